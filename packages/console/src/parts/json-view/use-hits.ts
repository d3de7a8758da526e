/** Searches a large value in pieces, so that the page stays responsive. */
import { useEffect, useState } from 'react';
import { hitsOf } from './search.ts';
import type { TreeNode } from './tree.ts';

interface Hits {
  readonly nodes: readonly TreeNode[];
  readonly isDone: boolean;
}

const NONE: Hits = { nodes: [], isDone: true };
/** Delay of a search, because the next keystroke replaces it. */
const PAUSE_MS = 120;

export function useHits(root: TreeNode, wanted: string): Hits {
  const [hits, setHits] = useState(NONE);
  useEffect(() => {
    if (wanted === '') return setHits(NONE);
    const matches = hitsOf(root, wanted);
    const nodes: TreeNode[] = [];
    let timer = setTimeout(searchNext, PAUSE_MS);
    function searchNext() {
      for (let next = matches.next(); ; next = matches.next()) {
        if (next.done) return setHits({ nodes, isDone: true });
        if (!next.value) break;
        nodes.push(next.value);
      }
      setHits({ nodes: [...nodes], isDone: false });
      timer = setTimeout(searchNext);
    }
    return () => clearTimeout(timer);
  }, [root, wanted]);
  return hits;
}
