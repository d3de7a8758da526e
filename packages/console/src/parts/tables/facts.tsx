/** A list of names and values. Names without a value are left out. */
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
