/** Failed runs by their cause, each with the list of its runs and the newest of them. */
import { Link } from 'wouter';
import { countOf } from '../json-view/words.ts';
import { Text } from '../value-text.tsx';
import { When } from '../when.tsx';
import type { Statistics } from './use-statistics.ts';
import './statistics.css';

interface CausesProps extends Pick<Statistics, 'causes'> {
  /** They are of several workflows. */
  readonly withType: boolean;
  /** The list of the runs of a cause. */
  hrefOf(cause: Statistics['causes'][number]): string;
}

export function Causes({ causes, withType, hrefOf }: CausesProps) {
  return (
    <table className="causes stacks">
      <thead>
        <tr>
          <th>Runs</th>
          {withType && <th>Workflow</th>}
          <th>Step</th>
          <th>Error</th>
          <th>Newest</th>
        </tr>
      </thead>
      <tbody>
        {causes.map((cause) => {
          const { type, code, step, runs, last } = cause;
          return (
            <tr key={`${type} ${code} ${step}`}>
              <td data-label="Runs">
                <Link href={hrefOf(cause)}>{countOf(runs, 'run')}</Link>
              </td>
              {withType && (
                <td data-label="Workflow">
                  <Text value={type} max={100} />
                </td>
              )}
              <td data-label="Step">{step === undefined ? '—' : <Text value={step} max={100} />}</td>
              <td>
                <code>{code}</code> <Text value={last.message} max={160} />
              </td>
              <td data-label="Newest">
                <Link href={`/runs/${last.runId}`}>
                  <When at={last.at} />
                </Link>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
