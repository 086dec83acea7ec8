/** The command palette: pages, keys, queues and actions by a few letters. Loaded when it is first opened. */
import "@mantine/core/styles/Input.css";
import "@mantine/core/styles/ScrollArea.css";
import "@mantine/spotlight/styles.css";
import { Spotlight, type SpotlightActionData, spotlight } from "@mantine/spotlight";
import {
  IconKey,
  IconKeyboard,
  IconLogout,
  IconMoon,
  IconPlus,
  IconSearch,
  IconStack2,
  IconSun,
  IconTerminal2,
} from "@tabler/icons-react";
import { type ReactNode, useEffect, useState } from "react";
import type { KeyFacts } from "../../src/operate/keys.ts";
import { get } from "../api.ts";
import { useFocusBack } from "../focus.ts";
import { sendable, shown } from "../format.ts";
import { type QueueName, queuePath, queueWords } from "../queue-link.ts";
import { go } from "../router.ts";
import { useSession } from "../session.ts";
import { choose, useTheme } from "../theme.ts";
import { groupsFor } from "./views.ts";

const MOST_FOUND = 8;
const WAIT_MS = 150;

interface Found {
  readonly keys: readonly KeyFacts[];
  readonly queues: readonly QueueName[];
}

const NOTHING: Found = { keys: [], queues: [] };

/** Characters that a pattern gives a meaning are looked for as they are. */
const literally = (text: string): string => text.replace(/[\\*?[\]^]/g, "\\$&");

/** Keys and queues whose names have what was typed. A store that is lost finds none. */
function useFound(typed: string): Found {
  const [found, setFound] = useState(NOTHING);
  useEffect(() => {
    const text = typed.trim();
    if (text.length < 2) return setFound(NOTHING);
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      const [keys, queues] = await Promise.allSettled([
        get<{ keys: KeyFacts[] }>("/api/keys", { match: `*${literally(text)}*`, count: MOST_FOUND }, stop.signal),
        get<{ queues: Found["queues"] }>("/api/queues", {}, stop.signal),
      ]);
      if (stop.signal.aborted) return;
      setFound({
        keys: keys.status === "fulfilled" ? keys.value.keys.slice(0, MOST_FOUND) : [],
        queues:
          queues.status === "fulfilled"
            ? queues.value.queues.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
            : [],
      });
    }, WAIT_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [typed]);
  return found;
}

interface Props {
  readonly close: () => void;
  readonly help: () => void;
  readonly leave: (() => void) | undefined;
}

const ICON = { size: 18, stroke: 1.6 } as const;

function useActions(help: () => void, leave: (() => void) | undefined): SpotlightActionData[] {
  const isDark = useTheme() === "dark";
  const action = (label: string, description: string, leftSection: ReactNode, onClick: () => void) => ({
    id: label,
    label,
    description,
    leftSection,
    onClick,
  });
  return [
    action("Create key", "Add a key of any type", <IconPlus key="i" {...ICON} />, () => go("keys", { dialog: "new" })),
    action("Run command", "Open the command line", <IconTerminal2 key="i" {...ICON} />, () => go("command")),
    action(
      isDark ? "Use light theme" : "Use dark theme",
      "This browser remembers it",
      isDark ? <IconSun key="i" {...ICON} /> : <IconMoon key="i" {...ICON} />,
      () => choose(isDark ? "light" : "dark"),
    ),
    action("Show keyboard shortcuts", "Every key of the console", <IconKeyboard key="i" {...ICON} />, help),
    ...(leave ? [action("Sign out", "End this session", <IconLogout key="i" {...ICON} />, leave)] : []),
  ];
}

export function Palette({ close, help, leave }: Props) {
  useFocusBack();
  const [typed, setTyped] = useState("");
  const { keys, queues } = useFound(typed);
  const actions = useActions(help, leave);
  useEffect(() => spotlight.open(), []);
  const groups = [
    ...groupsFor(useSession()).map(({ title, views }) => ({
      group: title,
      actions: views.map((view) => ({
        id: `page ${view.path}`,
        label: view.title,
        description: view.about,
        leftSection: <view.icon {...ICON} />,
        onClick: () => go(view.path),
      })),
    })),
    { group: "Actions", actions },
    {
      group: "Keys",
      actions: keys.map(({ key, type }) => ({
        id: `key ${sendable(key)}`,
        label: shown(key),
        description: type,
        // The server has found it, whatever the palette's own filter would say.
        keywords: typed,
        leftSection: <IconKey {...ICON} />,
        onClick: () => go("keys", { key: sendable(key) }),
      })),
    },
    {
      group: "Queues",
      actions: queues.map((queue) => ({
        id: `queue ${queuePath(queue)}`,
        label: queue.name,
        description: "Queue",
        leftSection: <IconStack2 {...ICON} />,
        onClick: () => go("queues", queueWords(queue)),
      })),
    },
  ];
  return (
    <Spotlight
      actions={groups.filter((group) => group.actions.length > 0)}
      query={typed}
      onQueryChange={setTyped}
      onSpotlightClose={close}
      shortcut={null}
      lockScroll={false}
      scrollable
      maxHeight="min(60vh, 480px)"
      highlightQuery
      nothingFound="Nothing has that in its name."
      transitionProps={{ duration: 0 }}
      attributes={{ content: { "aria-label": "Command palette" } }}
      searchProps={{
        leftSection: <IconSearch size={18} stroke={1.6} />,
        placeholder: "Pages, keys, queues, actions",
        "aria-label": "Find pages, keys, queues and actions",
      }}
    />
  );
}
