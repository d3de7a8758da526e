/** A field for JSON. Shows the position of errors while typing; reports the value only while it is valid. */
import { useId, useMemo, useRef } from 'react';
import { escapedJson, visibleText } from '../visible-text.ts';
import { readJson } from './json-text.ts';
import './json-view.css';

interface JsonInputProps {
  readonly label: string;
  readonly text: string;
  onText(text: string): void;
  /** Text below the field. */
  readonly hint?: string;
  readonly rows?: number;
}

export function JsonInput({ label, text, onText, hint, rows = 6 }: JsonInputProps) {
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const typed = useMemo(() => readJson(text), [text]);
  const isBad = typed.kind === 'bad';
  const format = () => typed.kind === 'value' && onText(escapedJson(typed.value));
  const show = () => {
    if (!isBad) return;
    field.current?.focus();
    field.current?.setSelectionRange(typed.at, typed.at + 1);
  };
  return (
    <div className="field json-input">
      <span className="json-input-head">
        <label htmlFor={id}>{label}</label>
        <button type="button" className="small" disabled={typed.kind !== 'value'} onClick={format}>
          Tidy
        </button>
      </span>
      <textarea
        ref={field}
        id={id}
        className="mono"
        rows={rows}
        value={text}
        spellCheck={false}
        autoComplete="off"
        aria-invalid={isBad}
        aria-describedby={`${id}-said`}
        onChange={(event) => onText(event.target.value)}
      />
      <p id={`${id}-said`} className={isBad ? 'hint bad' : 'hint'} aria-live="polite">
        {isBad ? (
          <>
            No JSON, line {typed.line}, column {typed.column}: {visibleText(typed.why)}.{' '}
            <button type="button" className="more" onClick={show}>
              Show where
            </button>
          </>
        ) : (
          hint
        )}
      </p>
    </div>
  );
}
