/** What stands where content would be: it is coming, there is none, it failed. Each says what to do. */
import type { ReactNode } from 'react';
import { ApiError } from '../api/problem.ts';

export function Loading({ what }: { readonly what: string }) {
  return (
    <div className="state" role="status" aria-live="polite">
      <span className="spinner" aria-hidden="true" /> Loading {what}…
    </div>
  );
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="state empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** @param again shown as a button, if trying again may help */
export function Failure({ error, again }: { readonly error: unknown; readonly again?: () => void }) {
  const problem = error instanceof ApiError ? error.problem : undefined;
  return (
    <div className="failure" role="alert">
      <p>
        <strong>{problem?.title ?? 'This page failed'}</strong> {problem && <code>{problem.code}</code>}
      </p>
      <p>{problem ? problem.detail : error instanceof Error ? error.message : String(error)}</p>
      {problem?.field && (
        <p>
          Field: <code>{problem.field}</code>
        </p>
      )}
      {problem?.help && <p>{problem.help}</p>}
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

export function NothingHere() {
  return (
    <Empty title="Nothing is here">
      <p>
        This address leads nowhere. The runs are at <a href="/runs">/runs</a>.
      </p>
    </Empty>
  );
}
