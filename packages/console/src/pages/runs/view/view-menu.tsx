/** The menu View: row height, columns, and saved views. */
import { useEffect, useId, useRef, useState } from 'react';
import { Link, useSearch } from 'wouter';
import { Text } from '../../../parts/value-text.tsx';
import { useQueryChange } from '../../../shell/address.ts';
import { CHILDREN, filterOf, NAMES, NEWEST_FIRST, ORDERS, showsChildren } from '../filter/filter.ts';
import { HIDDEN, hiddenIn, OPTIONAL_COLUMNS, type OptionalColumn, toggledColumn } from './columns.ts';
import { isSameQuery, MAX_NAME_CHARS, MAX_VIEWS, saveVerb, withoutView, withView } from './saved-views.ts';
import { type Density, useSavedViews } from './use-kept.ts';

interface ViewMenuProps {
  readonly density: Density;
  onDensity(density: Density): void;
}

export function ViewMenu({ density, onDensity }: ViewMenuProps) {
  const search = useSearch();
  const hidden = hiddenIn(search);
  const change = useQueryChange();
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const closeIfOutside = ({ target }: PointerEvent) => {
      if (menu.current && !menu.current.contains(target as Node)) menu.current.open = false;
    };
    document.addEventListener('pointerdown', closeIfOutside);
    return () => document.removeEventListener('pointerdown', closeIfOutside);
  }, []);
  return (
    <details
      ref={menu}
      className="view-menu"
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.currentTarget.open = false;
        event.currentTarget.querySelector('summary')?.focus();
      }}
    >
      <summary className="button">View</summary>
      <div className="card stack">
        <label>
          <input
            type="checkbox"
            checked={density === 'compact'}
            onChange={({ target }) => onDensity(target.checked ? 'compact' : 'roomy')}
          />{' '}
          Compact rows
        </label>
        <label>
          <input
            type="checkbox"
            checked={showsChildren(search)}
            onChange={({ target }) => change({ [CHILDREN]: target.checked ? '1' : undefined }, 'replace')}
          />{' '}
          Child runs
        </label>
        <label>
          Sort{' '}
          <select
            value={filterOf(search).sort ?? ''}
            onChange={({ target }) => change({ [NAMES.sort]: target.value || undefined })}
          >
            <option value="">{NEWEST_FIRST}</option>
            {Object.entries(ORDERS).map(([word, name]) => (
              <option key={word} value={word}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <fieldset>
          <legend>Columns</legend>
          {(Object.keys(OPTIONAL_COLUMNS) as OptionalColumn[]).map((column) => (
            <label key={column}>
              <input
                type="checkbox"
                checked={!hidden.includes(column)}
                onChange={() => change({ [HIDDEN]: toggledColumn(hidden, column) }, 'replace')}
              />{' '}
              {OPTIONAL_COLUMNS[column]}
            </label>
          ))}
        </fieldset>
        <SavedViews />
      </div>
    </details>
  );
}

function SavedViews() {
  const search = useSearch();
  const [views, keep] = useSavedViews();
  const [name, setName] = useState('');
  const id = useId();
  const after = withView(views, { name, query: search });
  const isFull = name.trim() !== '' && after === undefined;
  const field = useRef<HTMLInputElement>(null);
  // The button that was pressed is then disabled or gone. Without a focus in the menu Escape would not close it.
  const keepAll = (next: typeof views) => {
    keep(next);
    field.current?.focus();
  };
  return (
    <section className="stack" aria-labelledby={id}>
      <strong id={id}>Saved views</strong>
      {views.length > 0 && (
        <ul className="saved-views">
          {views.map((view) => (
            <li key={view.name} className="row between">
              <Link
                href={view.query === '' ? '/runs' : `/runs?${view.query}`}
                aria-current={isSameQuery(view.query, search) ? 'page' : undefined}
              >
                <Text value={view.name} max={MAX_NAME_CHARS} />
              </Link>
              <button
                type="button"
                className="plain"
                aria-label={`Delete the view ${view.name}`}
                onClick={() => keepAll(withoutView(views, view.name))}
              >
                ✕
              </button>
            </li>
          ))}
        </ul>
      )}
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault();
          if (!after) return;
          keepAll(after);
          setName('');
        }}
      >
        <input
          ref={field}
          value={name}
          maxLength={MAX_NAME_CHARS}
          placeholder="name of this view"
          aria-label="Name of this view"
          onChange={({ target }) => setName(target.value)}
        />
        <button type="submit" disabled={after === undefined}>
          {saveVerb(views, name)}
        </button>
      </form>
      <span className="hint">
        {isFull
          ? `At most ${MAX_VIEWS} views can be saved. Delete one first.`
          : 'Filters and columns, kept in this browser. The address shares them.'}
      </span>
    </section>
  );
}
