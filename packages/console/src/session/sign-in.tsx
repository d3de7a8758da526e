/** Sign-in with an API key, or as a Firebase user if the project has users: as a page, or as a dialog over one. */
import { type FormEvent, useState } from 'react';
import type { Credential } from '../api/client.ts';
import { ApiError } from '../api/problem.ts';
import { Dialog } from '../parts/dialog/dialog.tsx';
import { Failure } from '../parts/states.tsx';
import type { FirebaseUsers } from './firebase.ts';
import type { Place } from './place.ts';

interface SignInProps {
  readonly refused: unknown;
  readonly place: Place;
  onKey(key: string): Promise<void>;
  onUser(credential: Credential): Promise<void>;
}

export function SignIn(props: SignInProps) {
  return (
    <main className="sign-in stack">
      <h1>
        <img src="/favicon.svg" alt="" width="28" height="28" /> Cairn
      </h1>
      <SignInForms {...props} />
    </main>
  );
}

/** The dialog shown after the credential of an open page is refused. */
export function SignInAgain({ onSignOut, ...props }: SignInProps & { onSignOut(): void }) {
  return (
    <Dialog title="Sign in again">
      <div className="sign-in-again stack">
        <p>The key or sign-in is no longer accepted. The page stays, with what you typed.</p>
        <SignInForms {...props} />
        <p>
          <button type="button" onClick={onSignOut}>
            Sign out and discard the page
          </button>
        </p>
      </div>
    </Dialog>
  );
}

function SignInForms({ refused, place: { local, users }, onKey, onUser }: SignInProps) {
  return (
    <>
      {refused !== undefined && <Failure error={refused} />}
      {users && <UserForm users={users} onUser={onUser} />}
      <KeyForm onKey={onKey} developmentKey={local?.apiKey} />
    </>
  );
}

interface KeyFormProps {
  readonly developmentKey: string | undefined;
  onKey(key: string): Promise<void>;
}

function KeyForm({ developmentKey, onKey }: KeyFormProps) {
  const [key, setKey] = useState('');
  const [busy, setBusy] = useState(false);
  const submit = async (given: string) => {
    setBusy(true);
    await onKey(given.trim());
    setBusy(false);
  };
  return (
    <form
      className="card"
      onSubmit={(event) => {
        event.preventDefault();
        void submit(key);
      }}
    >
      <label htmlFor="api-key">API key</label>
      <input
        id="api-key"
        type="password"
        autoComplete="off"
        spellCheck={false}
        value={key}
        onChange={(event) => setKey(event.target.value)}
        placeholder="cairn_…"
        required
      />
      <p className="hint">It is kept in this tab only, until the tab is closed.</p>
      <button type="submit" className="primary" disabled={busy}>
        Sign in
      </button>
      {developmentKey !== undefined && (
        <button type="button" disabled={busy} onClick={() => void submit(developmentKey)}>
          Use the development key
        </button>
      )}
    </form>
  );
}

interface UserFormProps {
  readonly users: FirebaseUsers;
  onUser(credential: Credential): Promise<void>;
}

function UserForm({ users, onUser }: UserFormProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    setBusy(true);
    setError(undefined);
    try {
      await onUser(await users.signIn(String(fields.get('email')), String(fields.get('password'))));
    } catch (refusal) {
      if (!(refusal instanceof ApiError)) throw refusal;
      setError(refusal);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className="card" onSubmit={(event) => void submit(event)}>
      <label htmlFor="email">E-mail</label>
      <input id="email" name="email" type="email" autoComplete="username" required />
      <label htmlFor="password">Password</label>
      <input id="password" name="password" type="password" autoComplete="current-password" required />
      {error && <Failure error={error} />}
      <button type="submit" className="primary" disabled={busy}>
        Sign in with e-mail
      </button>
    </form>
  );
}
