/** People: signing up, who there is, one of them, and lists. */
import type { SocialCounts, User, UserList } from "cinnabar/social";
import { type SubmitEvent, useState } from "react";
import { ActButton } from "../../acting.tsx";
import { act, type Failure } from "../../api.ts";
import { number } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Dialog, States, useActions } from "../../parts.tsx";
import { ExampleEmpty } from "./look.tsx";
import { useKept } from "./pieces.ts";

/** As it comes: times are texts. */
export type Account = Omit<User, "joinedAt"> & { readonly joinedAt: string };

export interface Me {
  readonly user: Account | null;
  readonly total: number;
  readonly counts?: SocialCounts;
  readonly lists?: readonly UserList[];
  readonly following?: readonly string[];
}

interface Props {
  readonly api: string;
  readonly link: (login: string) => string;
  readonly changed: () => void;
}

/** A form that says what went wrong below itself. */
function AccountForm(props: {
  login: string;
  name: string;
  button: string;
  send: (login: string, name: string) => Promise<unknown>;
  done: () => void;
  cancel?: () => void;
}) {
  const [error, setError] = useState<Failure | null>(null);
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    try {
      await props.send(String(form.get("login")).trim(), String(form.get("name")).trim());
      props.done();
    } catch (failure) {
      setError(failure as Failure);
    }
  };
  return (
    <form className="stack" onSubmit={submit}>
      <label>
        Login
        <input name="login" defaultValue={props.login} maxLength={40} required autoComplete="off" data-search />
        <small>Letters of any script, digits, “.”, “_” and “-”. Nobody else has it, whatever the case.</small>
      </label>
      <label>
        Name
        <input name="name" defaultValue={props.name} maxLength={60} autoComplete="off" />
      </label>
      {error && (
        <p className="bad" role="alert">
          {error.message}
        </p>
      )}
      <div className="row end">
        {props.cancel && (
          <button type="button" onClick={props.cancel}>
            Cancel
          </button>
        )}
        <ActButton type="submit" className="main">
          {props.button}
        </ActButton>
      </div>
    </form>
  );
}

export function SignUp({ api, visitor, changed }: { api: string; visitor: string; changed: () => void }) {
  return (
    <section className="social-sign-up" aria-label="Sign up">
      <h2>Sign up</h2>
      <p className="dim">You are {visitor} in the examples. An account gives you a login, a timeline and followers.</p>
      <AccountForm
        login={visitor.replace(/[^\p{L}\p{M}\p{N}_.-]+/gu, "")}
        name={visitor}
        button="Sign up"
        send={(login, name) => act("POST", `${api}/me`, { login, name })}
        done={changed}
      />
    </section>
  );
}

/** The visitor's own card: counts, and what can be changed. */
export function You({ api, me, link, changed }: Props & { me: Me }) {
  const [editing, setEditing] = useState(false);
  const actions = useActions(changed);
  const user = me.user!;
  return (
    <section className="social-you" aria-label="You">
      <p>
        <a href={link(user.login)}>
          <b>{user.name}</b>
        </a>{" "}
        <span className="dim">@{user.login}</span>
      </p>
      {me.counts && <Counts {...me.counts} />}
      <div className="row">
        <button type="button" className="small" onClick={() => setEditing(true)}>
          Change
        </button>
        <ActButton
          type="button"
          className="small danger"
          onClick={() =>
            actions.ask({
              title: "Remove your account?",
              text: "Everything you have posted goes with it, and so do your lists. Your login is free again at once.",
              button: "Remove account",
              run: () => actions.run(() => act("DELETE", `${api}/me`)),
            })
          }
        >
          Remove account
        </ActButton>
      </div>
      {actions.view}
      {editing && (
        <Dialog title="Change your account" close={() => setEditing(false)}>
          <AccountForm
            login={user.login}
            name={user.name}
            button="Change"
            send={(login, name) => act("PUT", `${api}/me`, { login, ...(name !== "" && { name }) })}
            done={() => {
              setEditing(false);
              changed();
            }}
            cancel={() => setEditing(false)}
          />
        </Dialog>
      )}
    </section>
  );
}

export function Counts({ statuses, followers, following }: SocialCounts) {
  return (
    <p className="social-counts">
      <span>
        <b>{number(statuses)}</b> {statuses === 1 ? "status" : "statuses"}
      </span>
      <span>
        <b>{number(followers)}</b> {followers === 1 ? "follower" : "followers"}
      </span>
      <span>
        <b>{number(following)}</b> followed
      </span>
    </p>
  );
}

type Listed = Account & SocialCounts & { readonly isFollowed: boolean };

export function People({ api, link, changed }: Props) {
  const loaded = useKept(useLoad<{ people: Listed[] }>(`${api}/people`));
  const actions = useActions(() => {
    loaded.reload();
    changed();
  });
  const follow = ({ login }: Listed, on: boolean) =>
    void actions.run(() => act("POST", `${api}/people/${encodeURIComponent(login)}/follow`, { on }));
  return (
    <>
      {actions.view}
      <States of={loaded}>
        {({ people }) =>
          people.length === 0 ? (
            <ExampleEmpty title="Nobody else is here.">Make the sample, or sign up in another browser.</ExampleEmpty>
          ) : (
            <ul className="social-people">
              {people.map((each) => (
                <li key={each.id}>
                  <div>
                    <p>
                      <a href={link(each.login)} data-row>
                        <b>{each.name}</b>
                      </a>{" "}
                      <span className="dim">@{each.login}</span>
                    </p>
                    <Counts {...each} />
                  </div>
                  <ActButton
                    type="button"
                    aria-pressed={each.isFollowed}
                    aria-label={`${each.isFollowed ? "Unfollow" : "Follow"} ${each.login}`}
                    onClick={() => follow(each, !each.isFollowed)}
                  >
                    {each.isFollowed ? "Following" : "Follow"}
                  </ActButton>
                </li>
              ))}
            </ul>
          )
        }
      </States>
    </>
  );
}

interface Shown {
  readonly user: Account;
  readonly counts: SocialCounts;
  readonly mode: string;
  readonly isMe: boolean;
  readonly isFollowed: boolean;
  readonly followsMe: boolean;
  readonly isMuted: boolean;
  readonly isBlocked: boolean;
}

const WAYS: Readonly<Record<string, string>> = {
  push: "delivered to followers",
  pull: "merged in when timelines are read",
  toPull: "on the way to being merged in",
  toPush: "on the way to being delivered",
};

/** Somebody, above what they have posted. */
export function Person({ api, login, lists, changed }: Props & { login: string; lists: readonly UserList[] }) {
  const path = `${api}/people/${encodeURIComponent(login)}`;
  const loaded = useKept(useLoad<Shown>(path));
  const actions = useActions(() => {
    loaded.reload();
    changed();
  });
  const tie = (what: string, on: boolean) => void actions.run(() => act("POST", `${path}/${what}`, { on }));
  const enlist = (list: string) =>
    void actions.run(() => act("POST", `${api}/lists/${encodeURIComponent(list)}/members`, { login }));
  return (
    <div className="social-person">
      {actions.view}
      <States of={loaded}>
        {({ user, counts, mode, isMe, isFollowed, followsMe, isMuted, isBlocked }) => (
          <>
            <h2>
              {user.name} <span className="dim">@{user.login}</span>{" "}
              {followsMe && <span className="tag">follows you</span>}
            </h2>
            <Counts {...counts} />
            <p className="dim">Statuses are {WAYS[mode] ?? mode}.</p>
            {!isMe && (
              <div className="row">
                <ActButton
                  type="button"
                  className={isFollowed ? "" : "main"}
                  aria-pressed={isFollowed}
                  onClick={() => tie("follow", !isFollowed)}
                >
                  {isFollowed ? "Following" : "Follow"}
                </ActButton>
                <ActButton type="button" aria-pressed={isMuted} onClick={() => tie("mute", !isMuted)}>
                  {isMuted ? "Muted" : "Mute"}
                </ActButton>
                <ActButton type="button" aria-pressed={isBlocked} onClick={() => tie("block", !isBlocked)}>
                  {isBlocked ? "Blocked" : "Block"}
                </ActButton>
                {lists.length > 0 && (
                  <select
                    aria-label="Add to a list"
                    value=""
                    onChange={(event) => event.currentTarget.value && enlist(event.currentTarget.value)}
                  >
                    <option value="">Add to a list…</option>
                    {lists.map((list) => (
                      <option key={list.id} value={list.id}>
                        {list.name}
                      </option>
                    ))}
                  </select>
                )}
              </div>
            )}
          </>
        )}
      </States>
    </div>
  );
}

/** A list, above what its members have posted. */
export function ListHead({ api, list, link, changed, left }: Props & { list: string; left: () => void }) {
  const path = `${api}/lists/${encodeURIComponent(list)}`;
  const loaded = useKept(useLoad<{ list: UserList; members: Account[] }>(path));
  const actions = useActions(() => {
    loaded.reload();
    changed();
  });
  const removing = useActions(left);
  return (
    <div className="social-person">
      {actions.view}
      {removing.view}
      <States of={loaded}>
        {({ list: { name }, members }) => (
          <>
            <div className="row">
              <h2>{name}</h2>
              <ActButton
                type="button"
                className="small danger"
                onClick={() =>
                  removing.ask({
                    title: "Remove the list?",
                    text: `“${name}” goes with its timeline; nobody in it learns of it.`,
                    button: "Remove list",
                    run: () => removing.run(() => act("DELETE", path)),
                  })
                }
              >
                Remove list
              </ActButton>
            </div>
            {members.length === 0 ? (
              <p className="dim">Nobody is in it. Open somebody and choose “Add to a list”.</p>
            ) : (
              <p className="social-members">
                {members.map(({ id, login }) => (
                  <span key={id} className="tag">
                    <a href={link(login)}>@{login}</a>
                    <ActButton
                      type="button"
                      className="plain"
                      aria-label={`Take ${login} out of the list`}
                      onClick={() =>
                        void actions.run(() => act("DELETE", `${path}/members/${encodeURIComponent(login)}`))
                      }
                    >
                      ×
                    </ActButton>
                  </span>
                ))}
              </p>
            )}
          </>
        )}
      </States>
    </div>
  );
}
