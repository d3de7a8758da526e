/** The reason why a run makes no progress until a person fixes the cause, and what to do. */
import type { Answer } from '../../../api/client.ts';
import { Text } from '../../../parts/value-text.tsx';
import { When } from '../../../parts/when.tsx';

type ShownFinding = NonNullable<Answer<'Run'>['finding']>;

export function FindingView({ finding }: { readonly finding: ShownFinding }) {
  const { code, title, message, stepId, since, help } = finding;
  return (
    <div className="run-error">
      <p>
        <code>{code}</code> {title}
        {stepId !== undefined && (
          <>
            {' '}
            at step <Text value={stepId} max={120} />
          </>
        )}
        : <Text value={message} max={600} />{' '}
        <span className="dim">
          (found <When at={since} />)
        </span>
      </p>
      <p className="dim">{help}</p>
    </div>
  );
}
