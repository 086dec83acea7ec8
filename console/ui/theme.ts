/** Light or dark: the system's choice, or the user's, which this browser remembers. */
import { useOutside, Watchers } from "./outside.ts";

export type Choice = "system" | "light" | "dark";

const KEY = "cinnabar.theme";
const dark = matchMedia("(prefers-color-scheme: dark)");
const watchers = new Watchers();

function stored(): Choice {
  const value = localStorage.getItem(KEY);
  return value === "light" || value === "dark" ? value : "system";
}

function apply(): void {
  const choice = stored();
  document.documentElement.dataset.theme = choice === "system" ? (dark.matches ? "dark" : "light") : choice;
  watchers.tell();
}

/** What the page around this one has. */
export function showTheme(theme: "light" | "dark"): void {
  document.documentElement.dataset.theme = theme;
  watchers.tell();
}

export function startTheme(): void {
  dark.addEventListener("change", apply);
  apply();
}

export function choose(choice: Choice): void {
  localStorage.setItem(KEY, choice);
  apply();
}

/** What is shown now. */
export const useTheme = (): string =>
  useOutside(() => document.documentElement.dataset.theme ?? "light", watchers.subscribe);
