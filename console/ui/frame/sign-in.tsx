/** Asks for the password. */
import { type SubmitEvent, useState } from "react";
import { act, type Failure } from "../api.ts";

export function SignIn({ done }: { done: () => void }) {
  const [error, setError] = useState<Failure | null>(null);
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const password = String(new FormData(event.currentTarget).get("password"));
    try {
      await act("POST", "/api/login", { password });
      done();
    } catch (failure) {
      setError(failure as Failure);
    }
  };
  return (
    <main className="sign-in">
      <form onSubmit={submit}>
        <h1>Cinnabar</h1>
        <label>
          Password
          {/* biome-ignore lint/a11y/noAutofocus: it is the one thing on the page. */}
          <input type="password" name="password" autoComplete="current-password" required autoFocus />
        </label>
        {error && <p role="alert">{error.message}</p>}
        <button type="submit" className="main">
          Sign in
        </button>
      </form>
    </main>
  );
}
