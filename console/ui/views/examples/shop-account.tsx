/** Signing in and out of the shop. */
import { type SubmitEvent, useState } from "react";
import { ActButton, acting } from "../../acting.tsx";
import { act, type Failure } from "../../api.ts";
import { Dialog } from "../../parts.tsx";
import { API, type Mine } from "./shop-parts.ts";

function SignIn({ close, done }: { close: () => void; done: () => void }) {
  const [error, setError] = useState<Failure | null>(null);
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const body = { user: String(form.get("user")), password: String(form.get("password")) };
    try {
      await acting(() => act("POST", `${API}/sign-in`, body));
      close();
      done();
    } catch (failure) {
      setError(failure as Failure);
    }
  };
  return (
    <Dialog title="Sign in to the shop" close={close}>
      <form className="stack" onSubmit={submit}>
        <p className="dim">A name that is new becomes an account. Do not use a password that you use elsewhere.</p>
        <label>
          Name
          <input name="user" maxLength={24} autoComplete="off" required data-autofocus />
        </label>
        <label>
          Password
          <input name="password" type="password" maxLength={200} autoComplete="off" required />
        </label>
        {error && (
          <p className="bad" role="alert">
            {error.message}
          </p>
        )}
        <div className="row end">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <ActButton type="submit" className="main">
            Sign in
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}

export function Account({ mine, changed }: { mine: Mine | undefined; changed: () => void }) {
  const [open, setOpen] = useState(false);
  const others = mine?.sessions.filter(({ current }) => !current).length ?? 0;
  const send = async (what: string) => {
    await acting(() => act("POST", `${API}/${what}`)).catch(() => {});
    changed();
  };
  if (mine?.user == null) {
    return (
      <>
        <button type="button" disabled={mine === undefined} onClick={() => setOpen(true)}>
          Sign in
        </button>
        {open && <SignIn close={() => setOpen(false)} done={changed} />}
      </>
    );
  }
  return (
    <>
      <span className="shop-user">
        <span className="dim">Signed in as</span> <b>{mine.user}</b>
      </span>
      {others > 0 && (
        <ActButton type="button" onClick={() => send("sign-out-elsewhere")}>
          Sign out elsewhere ({others})
        </ActButton>
      )}
      <ActButton type="button" onClick={() => send("sign-out")}>
        Sign out
      </ActButton>
    </>
  );
}
