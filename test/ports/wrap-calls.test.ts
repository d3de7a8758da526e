import { expect, test } from '@jest/globals';
import { innermostPort, wrapCalls } from '../../packages/cairn/src/ports/wrap-calls.ts';

interface Shelf {
  readonly label: string;
  put(book: string, place?: number): Promise<number>;
  find(book: string): Promise<number | undefined>;
}

/** Its methods need their own object, as those of every adapter do. */
class WoodenShelf {
  readonly #books: string[] = [];

  async put(book: string, place = this.#books.length): Promise<number> {
    this.#books[place] = book;
    return place;
  }

  async find(book: string): Promise<number | undefined> {
    const place = this.#books.indexOf(book);
    return place < 0 ? undefined : place;
  }
}

test('every call passes through one function, with its arguments and its answer', async () => {
  const names: string[] = [];
  const own = new WoodenShelf();
  const shelf = wrapCalls(own, (call, name) => {
    names.push(name);
    return call(own);
  });
  expect(await shelf.put('Emma', 3)).toBe(3);
  expect(await shelf.find('Emma')).toBe(3);
  expect(names).toEqual(['put', 'find']);
});

test('a call is carried out as often, and on whom, the function says', async () => {
  const [first, second] = [new WoodenShelf(), new WoodenShelf()];
  const both = wrapCalls(first, async (call) => {
    await call(second);
    await call(second);
    return call(first);
  });
  expect(await both.put('Emma')).toBe(0);
  expect(await second.put('Persuasion')).toBe(2);
});

test('each method can be surrounded in its own way, and given other arguments', async () => {
  const shelf = wrapCalls(new WoodenShelf(), {
    put: (call, book, place) => call(book.toUpperCase(), place),
    find: async (call, book) => ((await call(book)) ?? 0) + 100,
  });
  await shelf.put('Emma', 1);
  expect(await shelf.find('EMMA')).toBe(101);
});

test('what is thrown is thrown on', async () => {
  const torn = wrapCalls<Pick<Shelf, 'find'>>(
    { find: () => Promise.reject(new Error('torn')) },
    { find: (call, book) => call(book) },
  );
  await expect(torn.find('Emma')).rejects.toThrow('torn');
});

test('members that are no methods pass through', () => {
  const port: Shelf = { label: 'novels', put: async () => 0, find: async () => 0 };
  expect(wrapCalls(port, { put: async () => 1, find: async () => 1 }).label).toBe('novels');
});

test('two wrappers, one around the other, are around the same port', () => {
  const port = new WoodenShelf();
  const asIs = (shelf: WoodenShelf) => wrapCalls(shelf, (call) => call(shelf));
  expect(innermostPort(asIs(asIs(port)))).toBe(port);
  expect(innermostPort(port)).toBe(port);
});

test('a method that is surrounded by nothing does not compile', () => {
  // @ts-expect-error `find` is missing
  wrapCalls(new WoodenShelf(), { put: async () => 0 });
});
