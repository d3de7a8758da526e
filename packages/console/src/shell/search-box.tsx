/** The search field for runs; `/` moves the focus here. */
import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { focusIfLost } from '../parts/focus.ts';
import { useQueryState } from './address.ts';
import { isTyping, usePageKeys } from './is-command.ts';

export function SearchBox() {
  const input = useRef<HTMLInputElement>(null);
  const [query] = useQueryState('q');
  const [text, setText] = useState('');
  const [, navigate] = useLocation();
  // The address of the results contains the text; other pages clear the field.
  useEffect(() => setText(query ?? ''), [query]);
  usePageKeys((event) => {
    if (event.key !== '/' || isTyping(event)) return;
    event.preventDefault();
    input.current?.focus();
    input.current?.select();
  });
  return (
    <search>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const wanted = text.trim();
          if (wanted === '') return;
          navigate(`/runs?q=${encodeURIComponent(wanted)}`);
          // The field gives up the focus, so that keys are commands for the results.
          input.current?.blur();
          focusIfLost();
        }}
      >
        <input
          ref={input}
          type="search"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') event.currentTarget.blur();
          }}
          aria-label="Search by run id, delivery id, idempotency key, thread, trace id or pull request"
          placeholder="Run id, delivery id, key, pull request…   /"
        />
      </form>
    </search>
  );
}
