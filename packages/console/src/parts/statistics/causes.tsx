/** Failed runs by their cause, with the newest of each. */
import { Link } from 'wouter';
import { Text } from '../value-text.tsx';
import { When } from '../when.tsx';
import type { Statistics } from './use-statistics.ts';

interface CausesProps extends Pick<Statistics, 'causes'> {
  /** They are of several workflows. */
  readonly withType: boolean;
}

export function Causes({ causes, withType }: CausesProps) {
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
        {causes.map(({ type, code, step, runs, last }) => (
          <tr key={`${type} ${code} ${step}`}>
            <td data-label="Runs">{runs}</td>
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
        ))}
      </tbody>
    </table>
  );
}
