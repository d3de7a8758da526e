/** Names and values of one thing, one below the other. What has no value is left out. */
import type { ReactElement } from 'react';
import { Text } from '../value-text.tsx';

interface FactsProps {
  readonly facts: readonly (readonly [name: string, value: string | number | ReactElement | undefined])[];
}

export function Facts({ facts }: FactsProps) {
  return (
    <dl className="row-facts">
      {facts.map(([name, value]) =>
        value === undefined || value === '' ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{typeof value === 'object' ? value : <Text value={String(value)} />}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
