/** Light or dark: the system's choice, or the user's, which this browser remembers. */
import { useEffect, useState } from "preact/hooks";

export type Choice = "system" | "light" | "dark";

const KEY = "cinnabar.theme";
const dark = matchMedia("(prefers-color-scheme: dark)");
const watchers = new Set<() => void>();

function stored(): Choice {
  const value = localStorage.getItem(KEY);
  return value === "light" || value === "dark" ? value : "system";
}

function apply(): void {
  const choice = stored();
  document.documentElement.dataset.theme = choice === "system" ? (dark.matches ? "dark" : "light") : choice;
  for (const watcher of watchers) watcher();
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
export function useTheme(): string {
  const read = () => document.documentElement.dataset.theme ?? "light";
  const [theme, setTheme] = useState(read);
  useEffect(() => {
    const watcher = () => setTheme(read());
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  }, []);
  return theme;
}
