/** Who is signed in, and what this console lets them do. */
import type { Role } from "../src/access/user.ts";
import { useOutside, Watchers } from "./outside.ts";

export interface Session {
  readonly locked: boolean;
  /** Whether a name is asked for besides the password. */
  readonly named: boolean;
  readonly signedIn: boolean;
  readonly user: { readonly name: string; readonly role: Role } | null;
  readonly readOnly: boolean;
  readonly examples: boolean;
}

/** Until the console has answered, and where it does not: the server refuses what somebody may not do. */
const UNKNOWN: Session = {
  locked: false,
  named: false,
  signedIn: true,
  user: { name: "admin", role: "admin" },
  readOnly: false,
  examples: true,
};

let session = UNKNOWN;
const watchers = new Watchers();

/** What is shown depends on the role: buttons say which one they need (`data-acts`), and the style sheet hides the others. */
export function setSession(next: Session): void {
  session = next;
  document.documentElement.dataset.role = next.readOnly ? "viewer" : (next.user?.role ?? "viewer");
  watchers.tell();
}

export const useSession = (): Session => useOutside(() => session, watchers.subscribe);
