/** Findings about the installation, the worst first, each with what to do. */
import type { Finding } from '@cairn/client';
import { Text } from '../../parts/value-text.tsx';

const MARKS: Readonly<Record<Finding['state'], readonly [tone: string, mark: string, word: string]>> = {
  wrong: ['bad', '✕', 'Wrong'],
  note: ['quiet', '·', 'Note'],
  well: ['good', '✓', 'Well'],
};

export function Findings({ findings }: { readonly findings: readonly Finding[] }) {
  return (
    <section className="card">
      <h2>
        Findings <Summary wrong={findings.filter(({ state }) => state === 'wrong').length} />
      </h2>
      <ul className="findings">
        {findings.map((finding, place) => {
          const [tone, mark, word] = MARKS[finding.state];
          return (
            // Codes repeat, one for each subject, and the list is replaced as a whole.
            // biome-ignore lint/suspicious/noArrayIndexKey: see above
            <li key={`${finding.code} ${place}`}>
              <span className={tone} aria-hidden="true">
                {mark}
              </span>
              <div>
                <span className="visually-hidden">{word}: </span>
                <Text value={finding.what} /> <code className="dim">{finding.code}</code>
                {finding.help && (
                  <p className="hint">
                    <Text value={finding.help} />
                  </p>
                )}
              </div>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Summary({ wrong }: { readonly wrong: number }) {
  if (wrong === 0) return <span className="good">✓ nothing is wrong</span>;
  return (
    <span className="bad">
      ✕ {wrong} {wrong === 1 ? 'thing is' : 'things are'} wrong
    </span>
  );
}
