// Preact, its hooks, and htm bound to it, as one module: htm stands in for a compiler of JSX.
import htm from "htm";
import { h } from "preact";

export { Component, createContext, h, render } from "preact";
export { useCallback, useContext, useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
export const html = htm.bind(h);
