/** Numbers with their names, as cards. */
import './readings.css';

export interface NamedReading {
  readonly name: string;
  readonly value: string;
  readonly more?: string | undefined;
  readonly isWrong?: boolean | undefined;
}

export function Readings({ of }: { readonly of: readonly NamedReading[] }) {
  return (
    <dl className="readings">
      {of.map(({ name, value, more, isWrong }) => (
        <div className="card" key={name}>
          <dt>{name}</dt>
          <dd className={isWrong ? 'bad' : ''}>{value}</dd>
          {more && <dd className="hint">{more}</dd>}
        </div>
      ))}
    </dl>
  );
}
