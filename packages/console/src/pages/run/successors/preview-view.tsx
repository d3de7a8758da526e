/** Preview of a successor, step by step. */
import { stepKey } from '@cairn/client';
import { type ReactNode, useState } from 'react';
import { Failure } from '../../../parts/states.tsx';
import { Text } from '../../../parts/value-text.tsx';
import type { PreviewState } from './use-preview.ts';
import { countsOf, type Preview, previewEffectWords, previewStepWords, type Words } from './words.ts';

/** Rows shown until all are requested. */
const SHOWN = 50;

export function PreviewView({ foreseen }: { readonly foreseen: PreviewState }) {
  const preview = foreseen.kind === 'ready' ? foreseen.preview : undefined;
  const before = foreseen.kind === 'asking' ? foreseen.before : undefined;
  return (
    <section
      className="preview"
      aria-label="Preview"
      aria-live="polite"
      aria-busy={foreseen.kind === 'asking'}
    >
      <h3>
        What would happen
        {foreseen.kind === 'asking' && <span className="spinner" role="status" aria-label="Asking" />}
      </h3>
      {foreseen.kind === 'incomplete' && (
        <p className="hint">The preview appears once the form is complete.</p>
      )}
      {foreseen.kind === 'failed' && <Failure error={foreseen.error} again={foreseen.again} />}
      {(preview ?? before) && <PreviewDetails preview={(preview ?? before) as Preview} />}
    </section>
  );
}

function PreviewDetails({ preview }: { readonly preview: Preview }) {
  const { would, blockers, steps, effects, effectsCut } = preview;
  return (
    <>
      {blockers.map(({ code, detail, help }) => (
        <div className="failure" key={`${code} ${detail}`}>
          <p>
            <strong>Obstacle</strong> <code>{code}</code>
          </p>
          <p>
            <Text value={detail} />
          </p>
          <p className="hint">
            <Text value={help} />
          </p>
        </div>
      ))}
      {would === 'unpark' && <p>The run itself continues; there is no new run.</p>}
      {would === 'nothing' && blockers.length === 0 && <p>Nothing: the run continues by itself.</p>}
      {steps.length > 0 && <p>{countsOf(preview)}</p>}
      {steps.length > 0 && (
        <WordTable
          title="Step"
          rows={steps}
          plural="steps"
          keyOf={({ id }) => id}
          stepOf={({ id }) => id}
          wordsOf={previewStepWords}
          name={({ id, kind }) => (
            <>
              <code>
                <Text value={id} />
              </code>
              {kind !== 'step' && <span className="dim"> {kind}</span>}
            </>
          )}
        />
      )}
      {effects.length > 0 && (
        <>
          <h3>Effects, if a step that runs requests them again</h3>
          <WordTable
            title="Effect"
            rows={effects}
            plural="actions"
            keyOf={({ effectId }) => effectId}
            wordsOf={previewEffectWords}
            name={(effect) => (
              <>
                <code>
                  <Text value={effect.capabilityId} />
                </code>
                <span className="dim">
                  {' of '}
                  <Text value={stepKey(effect)} />
                </span>
              </>
            )}
          />
        </>
      )}
      {effectsCut && <p className="hint">More side effects are recorded than are shown.</p>}
    </>
  );
}

interface WordTableProps<T> {
  readonly title: string;
  readonly rows: readonly T[];
  readonly plural: string;
  readonly keyOf: (row: T) => string;
  readonly wordsOf: (row: T) => Words;
  readonly name: (row: T) => ReactNode;
  /** The step of a row of steps. */
  readonly stepOf?: (row: T) => string;
}

function WordTable<T extends { readonly action: string }>(props: WordTableProps<T>) {
  const { title, rows, plural, keyOf, wordsOf, name, stepOf } = props;
  const [shown, setShown] = useState(SHOWN);
  return (
    <>
      <table className="stacks">
        <thead>
          <tr>
            <th scope="col">{title}</th>
            <th scope="col">Action</th>
            <th scope="col">Because</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, shown).map((row) => {
            const { tone, words, because } = wordsOf(row);
            return (
              <tr key={keyOf(row)} data-step={stepOf?.(row)} data-action={row.action}>
                <th scope="row">{name(row)}</th>
                <td className={tone}>{words}</td>
                <td className="dim">{because}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {rows.length > shown && (
        <button type="button" onClick={() => setShown(rows.length)}>
          Show all {rows.length} {plural}
        </button>
      )}
    </>
  );
}
