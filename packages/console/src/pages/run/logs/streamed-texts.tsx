/** Text that steps stream, such as the answers of a model, shown live. */
import type { StreamedText } from '@cairn/client';
import { Failure } from '../../../parts/states.tsx';
import { visibleText } from '../../../parts/visible-text.ts';
import { useStreamedText } from './use-streamed-text.ts';

/** Texts of the newest steps; the outputs of the others are in the graph. */
const MAX_SHOWN = 20;

const STATES: Readonly<Record<StreamedText['state'], string>> = {
  open: 'being written',
  whole: 'whole',
  cut: 'longer than what is kept',
};

export function StreamedTexts({ id, step }: { readonly id: string; readonly step: string | undefined }) {
  const { texts, error } = useStreamedText(id, step);
  const newest = [...texts.entries()].slice(-MAX_SHOWN).reverse();
  return (
    <>
      {error !== undefined && <Failure error={error} />}
      {newest.length > 0 && (
        <section className="stack" aria-label="Streamed text">
          {newest.map(([name, text], at) => (
            <details key={name} open={at === 0 || text.state === 'open'}>
              <summary>
                <bdi>
                  {visibleText(text.step)}
                  {text.attempt > 1 && ` #${text.attempt}`}
                  {text.undoes && ' (undo)'}
                </bdi>{' '}
                <span className="dim">{STATES[text.state]}</span>
              </summary>
              <section
                className={text.state === 'open' ? 'streamed-text follows' : 'streamed-text'}
                // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
                tabIndex={0}
                aria-label={`Text of ${visibleText(text.step)}`}
              >
                <pre className="log-message">{visibleText(text.text)}</pre>
              </section>
            </details>
          ))}
        </section>
      )}
    </>
  );
}
