/** Finds a run by what a person has in hand; `/` leads here from anywhere. */
import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { isTyping } from './keys.ts';

export function SearchBox() {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [, navigate] = useLocation();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== '/' || isTyping(event)) return;
      event.preventDefault();
      input.current?.focus();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
  return (
    <search>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const wanted = text.trim();
          if (wanted !== '') navigate(`/runs?q=${encodeURIComponent(wanted)}`);
        }}
      >
        <input
          ref={input}
          type="search"
          value={text}
          onChange={(event) => setText(event.target.value)}
          aria-label="Search by run id, delivery id or idempotency key"
          placeholder="Run id, delivery id, key…   /"
        />
      </form>
    </search>
  );
}
