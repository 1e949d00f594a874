// The page's beginning: one component, drawn into one element.
import { h, render } from "./vendor/preact.js";
import { App } from "./app.js";
import { followTheme } from "./shown/theme.js";

followTheme();
const place = document.getElementById("console");
place.replaceChildren();
render(h(App), place);
