/** Problems of a run, and what to do about each. */
import { JsonView } from '../../../parts/json-view/json-view.tsx';
import { Text } from '../../../parts/value-text.tsx';
import type { Consistency } from './words.ts';

interface ProblemListProps {
  readonly problems: Consistency['problems'];
  readonly more: number | undefined;
}

export function ProblemList({ problems, more }: ProblemListProps) {
  if (problems.length === 0) return null;
  return (
    <ul className="problems">
      {problems.map(({ code, severity, healable, subject, title, help, evidence }) => (
        <li key={`${code} ${subject}`} data-severity={severity}>
          <p>
            <strong className={severity === 'error' ? 'bad' : 'warn'}>
              {severity === 'error' ? '✕ error' : '! warning'}
            </strong>{' '}
            <code>{code}</code> <span className="dim">in</span>{' '}
            <code>
              <Text value={subject} />
            </code>
          </p>
          <p>
            <Text value={title} />
          </p>
          <p className="hint">{healable ? 'A repair fixes it.' : <Text value={help} />}</p>
          {Object.keys(evidence).length > 0 && (
            <details>
              <summary>Evidence</summary>
              <JsonView value={evidence} label="Evidence" />
            </details>
          )}
        </li>
      ))}
      {more !== undefined && <li className="dim">and {more} more</li>}
    </ul>
  );
}
