/** Asks for the password, and for a name where users have one. */
import { type SubmitEvent, useState } from "react";
import { act, type Failure } from "../api.ts";

export function SignIn({ isNamed, done }: { isNamed: boolean; done: () => void }) {
  const [error, setError] = useState<Failure | null>(null);
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const password = String(data.get("password"));
    try {
      await act("POST", "/api/login", { password, ...(isNamed && { name: String(data.get("name")) }) });
      done();
    } catch (failure) {
      setError(failure as Failure);
    }
  };
  return (
    <main className="sign-in">
      <form onSubmit={submit}>
        <h1>Cinnabar</h1>
        {isNamed && (
          <label>
            Name
            {/* biome-ignore lint/a11y/noAutofocus: it is the one thing on the page. */}
            <input name="name" autoComplete="username" autoCapitalize="off" spellCheck={false} required autoFocus />
          </label>
        )}
        <label>
          Password
          {/* biome-ignore lint/a11y/noAutofocus: it is the one thing on the page. */}
          <input type="password" name="password" autoComplete="current-password" required autoFocus={!isNamed} />
        </label>
        {error && <p role="alert">{error.message}</p>}
        <button type="submit" className="main">
          Sign in
        </button>
      </form>
    </main>
  );
}
