/** Runs without a question that make no progress until a person fixes the cause. */
import { Link } from 'wouter';
import type { Answer } from '../../api/client.ts';
import { CutText } from '../../parts/value-text.tsx';
import { FindingView } from '../run/header/finding-view.tsx';
import { RunLink } from '../run/header/run-link.tsx';

type ListedFindings = NonNullable<Answer<'InboxPage'>['findings']>;

export function Findings({ findings }: { readonly findings: ListedFindings }) {
  return (
    <section className="stack" aria-label="Runs without progress">
      {findings.map((finding) => (
        <div key={finding.runId} className="card">
          <Link href={`/runs/${finding.runId}`}>
            <CutText value={finding.type} max={100} />
          </Link>{' '}
          <RunLink id={finding.runId} />
          <FindingView finding={finding} />
        </div>
      ))}
    </section>
  );
}
