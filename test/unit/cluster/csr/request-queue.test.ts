import t from 'tap';
import { RequestQueue } from '../../../../lib/cluster/csr/request-queue.ts';

const item = (requestor: string, at: number) => ({
  name: `${requestor}${at}`,
  requestor,
  bytes: 10,
});

function takeAll(queue: RequestQueue<ReturnType<typeof item>>): string[] {
  const next = queue.take();
  return next === undefined ? [] : [next.name, ...takeAll(queue)];
}

t.test('requestors take turns, each with its oldest request', async (t) => {
  const queue = new RequestQueue<ReturnType<typeof item>>();
  for (const at of [1, 2, 3]) queue.add(item('a', at));
  queue.add(item('b', 1));
  for (const at of [1, 2]) queue.add(item('c', at));
  t.equal(queue.size, 6);
  t.equal(queue.bytes, 60);
  t.equal(queue.take()?.name, 'a1');
  queue.add(item('d', 1));
  t.same(takeAll(queue), ['b1', 'c1', 'a2', 'd1', 'c2', 'a3']);
  t.equal(queue.size, 0);
  t.equal(queue.bytes, 0);
});

t.test('one that was deleted or replaced is not taken', async (t) => {
  const queue = new RequestQueue<ReturnType<typeof item>>();
  for (const at of [1, 2, 3]) queue.add(item('a', at));
  queue.delete('a1');
  queue.delete('none');
  queue.add({ ...item('a', 2), bytes: 25 });
  queue.add({ ...item('b', 1), name: 'a3' });
  t.equal(queue.bytes, 35);
  t.equal(queue.get('a2')?.bytes, 25);
  t.equal(queue.get('a1'), undefined);
  t.same(queue.names(), ['a2', 'a3']);
  t.same(
    [queue.take(), queue.take(), queue.take()].map((each) => each?.requestor),
    ['a', 'b', undefined],
  );
});
