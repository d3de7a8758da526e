/** A text from data, made harmless: its direction is isolated, invisible characters are shown, and its length is limited. */
import { useMemo, useState } from 'react';
import { bytesOf, headOf, piecesOf, sizeWords, splitName, visibleText } from './visible-text.ts';
import './value-text.css';

/** A few screens of text. */
const MAX_SHOWN = 2_000;
/** Characters of one piece of a long text. The browser lays out a piece only when it is scrolled to. */
const PIECE = 8_000;

interface TextProps {
  readonly value: string;
  /** Characters shown until all are requested. */
  readonly max?: number;
}

export function Text({ value, max = MAX_SHOWN }: TextProps) {
  const [all, setAll] = useState(false);
  const size = useMemo(() => (value.length > max ? sizeWords(bytesOf(value)) : undefined), [value, max]);
  if (size === undefined) return <bdi className="value">{visibleText(value)}</bdi>;
  return (
    <>
      {all ? <Whole value={value} /> : <bdi className="value">{visibleText(headOf(value, max))}…</bdi>}{' '}
      <button type="button" className="more" onClick={() => setAll(!all)}>
        {all ? 'show less' : `show all (${size})`}
      </button>
    </>
  );
}

/** A text within a link or a button. A long text is cut and shown whole on hover, because a link cannot contain a button. */
export function CutText({ value, max }: Required<TextProps>) {
  if (value.length <= max) return <bdi className="value">{visibleText(value)}</bdi>;
  return (
    <bdi className="value" title={visibleText(value)}>
      {visibleText(headOf(value, max))}…
    </bdi>
  );
}

/** A name on one line. One that does not fit is cut before its end. */
export function NameOnLine({ value }: Pick<TextProps, 'value'>) {
  const name = visibleText(value);
  const { head, tail } = splitName(name);
  return (
    <bdi className="name-on-line" title={name}>
      <span>{head}</span>
      {tail !== '' && <span>{tail}</span>}
    </bdi>
  );
}

function Whole({ value }: { readonly value: string }) {
  const pieces = useMemo(() => {
    let at = 0;
    return piecesOf(value, PIECE).map((piece) => {
      const start = at;
      at += piece.length;
      return { start, text: visibleText(piece) };
    });
  }, [value]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
    <section className="whole-text" tabIndex={0} aria-label="The whole text">
      {pieces.map(({ start, text }) => (
        <bdi key={start}>{text}</bdi>
      ))}
    </section>
  );
}
