/** Scripts that were saved, and what was run: kept by this browser. What looks like a password is not. */
import { useState } from "react";
import type { Language } from "./editor.ts";

export interface Script {
  readonly text: string;
  readonly language: Language;
}

export interface Saved extends Script {
  readonly name?: string;
}

interface Named extends Script {
  readonly name: string;
}

const SAVED = "cinnabar.workbench.saved";
const HISTORY = "cinnabar.workbench.history";
const MOST_SAVED = 200;
const MOST_HISTORY = 50;
const MOST_CHARACTERS = 100_000;

const SECRET = /^\s*(?:auth|hello|migrate|acl\s+setuser|config\s+set\s+\S*(?:pass|auth))\b/im;

function read<T>(name: string): readonly T[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(name) ?? "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}

function write(name: string, value: unknown): void {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // The browser keeps no more: what is on the page stays there.
  }
}

/** The newest first, each once. */
export function addHistory(history: readonly Script[], script: Script): readonly Script[] {
  if (SECRET.test(script.text) || script.text.length > MOST_CHARACTERS) return history;
  return [script, ...history.filter(({ text }) => text !== script.text)].slice(0, MOST_HISTORY);
}

export function useKept() {
  const [saved, setSaved] = useState(() => read<Named>(SAVED));
  const [history, setHistory] = useState(() => read<Script>(HISTORY));
  const keep = (next: readonly Named[]) => {
    write(SAVED, next);
    setSaved(next);
  };
  return {
    saved,
    history,
    save: (script: Named) => {
      const others = saved.filter(({ name }) => name !== script.name);
      keep([...others, script].sort((a, b) => a.name.localeCompare(b.name)).slice(0, MOST_SAVED));
    },
    remove: (name: string) => keep(saved.filter((each) => each.name !== name)),
    remember: (next: readonly Script[]) => {
      write(HISTORY, next);
      setHistory(next);
    },
  };
}
