/** Shows the outcomes of forms that were closed while sending. */
import { useSyncExternalStore } from 'react';
import { Link, useLocation } from 'wouter';
import { refusalOf } from '../api/problem.ts';
import { Text } from '../parts/value-text.tsx';
import type { ClosedForm } from '../session/late-outcomes.ts';
import { useSession } from '../session/session.ts';

export function ClosedForms() {
  const { closedForms } = useSession();
  const all = useSyncExternalStore(closedForms.subscribe, closedForms.shown);
  const refused = all.filter(({ error }) => error !== undefined);
  const done = all.filter(({ error }) => error === undefined);
  const dismiss = (
    <button type="button" onClick={closedForms.dismiss}>
      Dismiss
    </button>
  );
  return (
    <div className="closed-forms">
      {refused.length > 0 && (
        <div className="failure" role="alert">
          {refused.map((form) => (
            <Refused key={form.key} form={form} />
          ))}
          {dismiss}
        </div>
      )}
      {/* The element is always there, because a screen reader announces only text that appears in an existing region. */}
      <div role="status" className={done.length > 0 ? 'card' : undefined}>
        {done.map((form) => (
          <Done key={form.key} form={form} />
        ))}
        {done.length > 0 && refused.length === 0 && dismiss}
      </div>
    </div>
  );
}

function Refused({ form: { title, path, error } }: { readonly form: ClosedForm }) {
  const problem = refusalOf(error);
  // Only a refusal proves that the request was not carried out.
  const isRefused = problem !== undefined && problem.status >= 400 && problem.status < 500;
  return (
    <p>
      <strong>
        <Text value={title} max={100} />: {isRefused ? 'not done' : 'it is not known whether it was done'}
      </strong>{' '}
      {problem && <code>{problem.code}</code>}{' '}
      <Text value={problem ? problem.detail || problem.title : String(error)} max={300} />{' '}
      <LinkElsewhere to={path}>Go to the page of the form</LinkElsewhere>
    </p>
  );
}

function Done({ form: { title, path, runId } }: { readonly form: ClosedForm }) {
  return (
    <p>
      <strong>
        <Text value={title} max={100} />: done.
      </strong>{' '}
      {runId === undefined ? (
        <LinkElsewhere to={path}>Go to the page of the form</LinkElsewhere>
      ) : (
        <LinkElsewhere to={`/runs/${encodeURIComponent(runId)}`}>Go to its run</LinkElsewhere>
      )}
    </p>
  );
}

/** A link, or nothing if its page is open. */
function LinkElsewhere({ to, children }: { readonly to: string; readonly children: string }) {
  const [path] = useLocation();
  return path === to ? null : <Link href={to}>{children}</Link>;
}
