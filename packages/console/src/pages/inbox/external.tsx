/** Effects without a run that ask a person, answered in place. */
import { useState } from 'react';
import type { Answer } from '../../api/client.ts';
import { GuardedButton } from '../../parts/guarded-button.tsx';
import { Details } from '../../parts/json-view/details.tsx';
import { Text } from '../../parts/value-text.tsx';
import { NOT_OPEN } from '../run/actions/decisions.ts';
import { ResolveDialog } from '../run/actions/resolve-dialog.tsx';
import type { LastAnswer } from './answered.tsx';

type ListedExternal = NonNullable<Answer<'InboxPage'>['external']>;

interface ExternalProps {
  readonly external: ListedExternal;
  onAnswered(last: LastAnswer): void;
}

export function External({ external, onAnswered }: ExternalProps) {
  const [answering, setAnswering] = useState<ListedExternal[number]>();
  if (external.length === 0 && !answering) return null;
  const isListed = external.some(({ effectId }) => effectId === answering?.effectId);
  return (
    <section className="stack" aria-label="Effects without a run">
      {external.map((asking) => (
        <div key={asking.effectId} className="card">
          <code>
            <Text value={asking.key} max={200} />
          </code>
          <p>
            <Text value={asking.question} />
          </p>
          {asking.request !== undefined && (
            <Details value={asking.request} label={`Request of ${asking.key}`} />
          )}
          <GuardedButton least="operator" onClick={() => setAnswering(asking)}>
            Resolve
          </GuardedButton>
        </div>
      ))}
      {answering && (
        <ResolveDialog
          runId={answering.owner}
          effectId={answering.effectId}
          caller="function"
          outdated={isListed ? undefined : NOT_OPEN}
          onDone={(done) => onAnswered({ step: answering.key, run: undefined, done })}
          onClose={() => setAnswering(undefined)}
        />
      )}
    </section>
  );
}
