/** The door: an API key, or a Firebase user. */
import { useState } from 'react';
import type { ApiError } from '../api/problem.ts';
import { Failure } from '../parts/states.tsx';
import type { Credential } from './credential.ts';
import type { LocalCloud } from './session.ts';

interface SignInProps {
  readonly refused: ApiError | undefined;
  readonly local: LocalCloud | undefined;
  onKey(key: string): Promise<void>;
  onUser(credential: Credential): Promise<void>;
}

export function SignIn({ refused, local, onKey }: SignInProps) {
  const [key, setKey] = useState('');
  const [busy, setBusy] = useState(false);
  const submit = async (given: string) => {
    setBusy(true);
    await onKey(given.trim());
    setBusy(false);
  };
  return (
    <main className="door">
      <h1>Cairn</h1>
      {refused && <Failure error={refused} />}
      <form
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
        <p className="hint">It stays in this tab and is forgotten when the tab is closed.</p>
        <button type="submit" className="primary" disabled={busy}>
          Sign in
        </button>
        {local && (
          <button type="button" disabled={busy} onClick={() => void submit(local.apiKey)}>
            Use the development key
          </button>
        )}
      </form>
    </main>
  );
}
