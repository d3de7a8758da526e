/**
 * Viewer of any JSON value, which can be opened branch by branch, searched and copied. A value of many megabytes must not
 * block the page, and everything in it is shown as text.
 */
import { useId, useMemo, useState } from 'react';
import { CopyButton, DownloadButton } from '../copy/text-buttons.tsx';
import { Text } from '../value-text.tsx';
import { JsonTree } from './json-tree.tsx';
import { openTo } from './search.ts';
import { ancestorsOf, isBranch, openWithin, pathOf, rootOf, type TreeNode, visibleRows } from './tree.ts';
import { useHits } from './use-hits.ts';
import './json-view.css';

const FIRST_ROWS = 30;
/** Least number of rows for which a search is offered. */
const SEARCHED_FROM = 15;
/** Rows that "Open more" opens: fast to render, and more than a person reads. */
const MORE_ROWS = 5_000;

interface JsonViewProps {
  readonly value: unknown;
  /** Its accessible name. */
  readonly label: string;
  /** Name of the file that a download makes; absent: it cannot be downloaded. */
  readonly file?: string;
}

export function JsonView({ value, label, file }: JsonViewProps) {
  const root = useMemo(() => rootOf(value), [value]);
  if (typeof value === 'string') return <LongText value={value} file={file} />;
  return <Branches root={root} label={label} file={file} key={root.id} />;
}

function LongText({ value, file }: { readonly value: string; readonly file: string | undefined }) {
  return (
    <div className="json">
      <div className="json-text">
        <Text value={value} />
      </div>
      <div className="json-bar">
        <CopyButton text={() => value}>Copy the text</CopyButton>
        {file !== undefined && <DownloadButton file={file} text={() => JSON.stringify(value)} />}
      </div>
    </div>
  );
}

interface BranchesProps {
  readonly root: TreeNode;
  readonly label: string;
  readonly file: string | undefined;
}

function Branches({ root, label, file }: BranchesProps) {
  const [open, setOpen] = useState(() => openWithin(root, FIRST_ROWS));
  const [chosen, setChosen] = useState<TreeNode>();
  const rows = useMemo(() => visibleRows(root, (id) => open.has(id)), [root, open]);
  const toggle = (node: TreeNode) => {
    const next = new Set(open);
    if (!next.delete(node.id)) next.add(node.id);
    setOpen(next);
  };
  const reveal = (node: TreeNode) => {
    setOpen((known) => openTo(known, node));
    setChosen(node);
  };
  const isTall = rows.length > SEARCHED_FROM || (open.size === 0 && isBranch(root));
  return (
    <div className="json">
      <div className={isTall ? 'json-bar' : 'json-bar json-bar-over'}>
        {isTall && <Search root={root} onFound={reveal} />}
        {isTall && (
          <button type="button" className="small" onClick={() => setOpen(openWithin(root, MORE_ROWS))}>
            Open more
          </button>
        )}
        {isTall && (
          <button type="button" className="small" onClick={() => setOpen(openWithin(root, 1))}>
            Close all
          </button>
        )}
        <CopyButton text={() => JSON.stringify(root.value, undefined, 2)}>Copy JSON</CopyButton>
        {file !== undefined && (
          <DownloadButton file={file} text={() => JSON.stringify(root.value, undefined, 2)} />
        )}
      </div>
      <JsonTree
        label={label}
        rows={rows}
        isOpen={(id) => open.has(id)}
        chosen={chosen}
        onChoose={setChosen}
        onToggle={toggle}
      />
      {chosen && <Chosen node={chosen} />}
    </div>
  );
}

function Chosen({ node }: { readonly node: TreeNode }) {
  const { value } = node;
  // A range is only a part of the view of its branch, which has the value.
  const own = node.range ? (ancestorsOf(node).findLast(({ range }) => !range) ?? node) : node;
  return (
    <div className="json-chosen">
      <div className="json-bar">
        <code>
          <Text value={pathOf(own)} max={300} />
        </code>
        <CopyButton text={() => pathOf(own)}>Copy path</CopyButton>
        <CopyButton
          text={() => (typeof own.value === 'string' ? own.value : JSON.stringify(own.value, undefined, 2))}
        >
          Copy value
        </CopyButton>
      </div>
      {!isBranch(node) && typeof value === 'string' && value !== '' && (
        <div className="json-text">
          <Text value={value} key={node.id} />
        </div>
      )}
    </div>
  );
}

function Search({ root, onFound }: { readonly root: TreeNode; onFound(node: TreeNode): void }) {
  const id = useId();
  const [wanted, setWanted] = useState('');
  const [at, setAt] = useState(0);
  const { nodes, isDone } = useHits(root, wanted);
  const go = (to: number) => {
    const next = nodes[(to + nodes.length) % nodes.length];
    if (!next) return;
    setAt((to + nodes.length) % nodes.length);
    onFound(next);
  };
  return (
    <span className="json-search">
      <input
        id={id}
        type="search"
        value={wanted}
        aria-label="Search in the value"
        placeholder="Search…"
        onChange={(event) => {
          setWanted(event.target.value);
          setAt(-1);
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          // Enter must not submit a form around the search.
          event.preventDefault();
          go(event.shiftKey ? at - 1 : at + 1);
        }}
      />
      {wanted !== '' && (
        <>
          <output htmlFor={id} className="dim">
            {isDone && nodes.length === 0
              ? 'not found'
              : `${at >= 0 ? `${at + 1} of ` : ''}${nodes.length}${isDone ? '' : '…'} found`}
          </output>
          <button type="button" className="small" aria-label="Found before" onClick={() => go(at - 1)}>
            ↑
          </button>
          <button type="button" className="small" aria-label="Found next" onClick={() => go(at + 1)}>
            ↓
          </button>
        </>
      )}
    </span>
  );
}
