/** Question of a run, and its details. */
import { Details } from '../../../parts/json-view/details.tsx';
import { Text } from '../../../parts/value-text.tsx';
import { When } from '../../../parts/when.tsx';
import { questionOf } from './decisions.ts';

interface QuestionProps {
  readonly detail: unknown;
  readonly dueAt?: string | undefined;
  /** The text has all details in words. */
  readonly saysAll?: boolean;
}

export function Question({ detail, dueAt, saysAll = false }: QuestionProps) {
  const { text, beside, to = [] } = questionOf(detail);
  return (
    <section className="question" aria-label="The question">
      <p>
        <Text value={text} />
      </p>
      {to.length > 0 && (
        <p className="dim">
          Asked: <Text value={to.join(', ')} max={300} />
        </p>
      )}
      {beside !== undefined && !saysAll && <Details value={beside} label="Details of the question" />}
      {dueAt !== undefined && (
        <p className="hint">
          Times out <When at={dueAt} />.
        </p>
      )}
    </section>
  );
}
