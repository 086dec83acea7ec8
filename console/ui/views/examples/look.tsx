/** How each example presents itself: its mark and its line. Colours, type and corners are tokens in looks.css. */
import {
  type Icon,
  IconBriefcase,
  IconMessageCircle,
  IconNews,
  IconSearch,
  IconShoppingCart,
  IconSpeakerphone,
  IconTags,
  IconTextScan2,
  IconUsers,
} from "@tabler/icons-react";
import { createContext, type ReactNode, useContext } from "react";
import { Empty } from "../../parts.tsx";
import "./looks.css";

interface Look {
  readonly icon: Icon;
  /** What it says of itself to its own visitors. */
  readonly line: string;
}

const LOOKS: Readonly<Record<string, Look>> = {
  news: { icon: IconNews, line: "All the links that readers vote for" },
  shop: { icon: IconShoppingCart, line: "Good things, while they are in stock" },
  marketplace: { icon: IconTags, line: "Offer what you have, buy what others offer" },
  autocomplete: { icon: IconTextScan2, line: "Two letters are enough" },
  search: { icon: IconSearch, line: "Find a package by words, phrases and sections" },
  chat: { icon: IconMessageCircle, line: "Rooms for everybody, and what you have missed" },
  social: { icon: IconUsers, line: "Follow people, and say what is new" },
  ads: { icon: IconSpeakerphone, line: "The right poster beside every text" },
  jobs: { icon: IconBriefcase, line: "Say what you can: see what fits" },
};

export const LookOf = createContext<string>("");

const useLook = (): Look | undefined => LOOKS[useContext(LookOf)];

export function Mark({ of }: { of: string }) {
  const look = LOOKS[of];
  if (look === undefined) return null;
  return (
    <span className="look-mark" aria-hidden="true">
      <look.icon size={20} stroke={1.8} />
    </span>
  );
}

export const lineOf = (name: string): string => LOOKS[name]?.line ?? "";

/** What stands where an example has nothing to show, with its mark. */
export function ExampleEmpty({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  const icon = useLook()?.icon;
  return (
    <Empty title={title} {...(icon !== undefined && { icon })} {...(action !== undefined && { action })}>
      {children}
    </Empty>
  );
}
