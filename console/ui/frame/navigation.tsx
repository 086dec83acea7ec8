/** The menu: groups with icons that fold, a rail of icons where somebody wants more room, a drawer on a phone. */
import {
  IconChevronDown,
  IconChevronRight,
  IconKeyboard,
  IconLayoutSidebarLeftCollapse,
  IconLayoutSidebarLeftExpand,
  IconLogout,
  IconMenu2,
  IconMoon,
  IconSearch,
  IconSun,
} from "@tabler/icons-react";
import { useState } from "react";
import { endpoint } from "../base.ts";
import { useSession } from "../session.ts";
import { choose, useTheme } from "../theme.ts";
import { PALETTE_KEYS } from "./keyboard.ts";
import { Switcher } from "./switcher.tsx";
import { type Group, groupsFor, type View } from "./views.ts";

const FOLDED = "cinnabar.folded";
const RAIL = "cinnabar.rail";

/** Titles of groups that are folded, remembered by this browser. */
function useFolded(): [ReadonlySet<string>, (title: string) => void] {
  const [folded, setFolded] = useState<ReadonlySet<string>>(
    () => new Set((localStorage.getItem(FOLDED) ?? "").split(",")),
  );
  const toggle = (title: string) => {
    const next = new Set(folded);
    if (!next.delete(title)) next.add(title);
    localStorage.setItem(FOLDED, [...next].join(","));
    setFolded(next);
  };
  return [folded, toggle];
}

export function useRail(): [boolean, () => void] {
  const [isRail, setRail] = useState(() => localStorage.getItem(RAIL) === "yes");
  const toggle = () => {
    localStorage.setItem(RAIL, isRail ? "no" : "yes");
    setRail(!isRail);
  };
  return [isRail, toggle];
}

interface Props {
  readonly at: View | undefined;
  readonly leave: (() => void) | undefined;
  readonly isRail: boolean;
  readonly toggleRail: () => void;
  readonly help: () => void;
  readonly palette: () => void;
}

function Links({ group, at, chosen }: { group: Group; at: View | undefined; chosen: () => void }) {
  return (
    <ul>
      {group.views.map((view) => (
        <li key={view.path}>
          <a
            href={`#/${view.path}`}
            title={view.title}
            aria-current={at === view ? "page" : undefined}
            onClick={chosen}
            onPointerEnter={() => void view.prepare()}
          >
            <view.icon size={17} stroke={1.6} aria-hidden="true" />
            <span className="label">{view.title}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

function Foot({ leave, isRail, toggleRail, help }: Omit<Props, "at" | "palette">) {
  const isDark = useTheme() === "dark";
  return (
    <div className="foot">
      <button
        type="button"
        className="icon"
        aria-label={isDark ? "Light theme" : "Dark theme"}
        title={isDark ? "Light theme" : "Dark theme"}
        onClick={() => choose(isDark ? "light" : "dark")}
      >
        {isDark ? <IconSun size={17} stroke={1.6} /> : <IconMoon size={17} stroke={1.6} />}
      </button>
      <button type="button" className="icon" aria-label="Keyboard help" title="Keyboard help" onClick={help}>
        <IconKeyboard size={17} stroke={1.6} />
      </button>
      <a
        className="icon api"
        href={endpoint("/api/openapi.json")}
        target="_blank"
        rel="noreferrer"
        title="API description"
      >
        API
      </a>
      {leave && (
        <button type="button" className="icon" aria-label="Sign out" title="Sign out" onClick={leave}>
          <IconLogout size={17} stroke={1.6} />
        </button>
      )}
      <button
        type="button"
        className="icon rail-toggle"
        aria-label={isRail ? "Widen the menu" : "Narrow the menu"}
        title={isRail ? "Widen the menu" : "Narrow the menu"}
        onClick={toggleRail}
      >
        {isRail ? (
          <IconLayoutSidebarLeftExpand size={17} stroke={1.6} />
        ) : (
          <IconLayoutSidebarLeftCollapse size={17} stroke={1.6} />
        )}
      </button>
    </div>
  );
}

export function Navigation(props: Props) {
  const { at, isRail, palette } = props;
  const session = useSession();
  const groups = groupsFor(session);
  const [isOpen, setOpen] = useState(false);
  const [folded, toggle] = useFolded();
  return (
    <nav className={`menu ${isOpen ? "open" : ""} ${isRail ? "rail" : ""}`} aria-label="Views">
      <div className="brand">
        <a href="#/" aria-label="Cinnabar">
          <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
            <path fill="currentColor" d="M16 2 28 9v14L16 30 4 23V9Z" opacity=".25" />
            <path fill="currentColor" d="M16 7 23.5 11.5v9L16 25l-7.5-4.5v-9Z" />
          </svg>
          <span className="label">Cinnabar</span>
          {session.readOnly && <span className="badge delayed label">read-only</span>}
        </a>
        <button
          type="button"
          className="find"
          aria-label="Find anything"
          title={`Find anything (${PALETTE_KEYS})`}
          onClick={palette}
        >
          <IconSearch size={15} stroke={1.8} aria-hidden="true" />
          <span className="label">Find</span>
          <kbd data-keys={PALETTE_KEYS} />
        </button>
        <button
          type="button"
          className="icon burger"
          aria-label="Menu"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <IconMenu2 size={20} stroke={1.6} />
        </button>
      </div>
      <div className="links">
        <Switcher />
        {groups.map((group) => {
          const isFolded = folded.has(group.title) && !isRail;
          return (
            <section key={group.title} aria-label={group.title}>
              <h2>
                <button type="button" aria-expanded={!isFolded} onClick={() => toggle(group.title)}>
                  {group.title}
                  {isFolded ? <IconChevronRight size={13} /> : <IconChevronDown size={13} />}
                </button>
              </h2>
              {!isFolded && <Links group={group} at={at} chosen={() => setOpen(false)} />}
            </section>
          );
        })}
        {session.locked && session.user && (
          <p className="who label">
            Signed in as <strong>{session.user.name}</strong> <span className="tag">{session.user.role}</span>
          </p>
        )}
        <Foot {...props} />
      </div>
    </nav>
  );
}
