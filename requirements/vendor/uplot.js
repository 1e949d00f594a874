// The charts.
export { default } from "uplot";
