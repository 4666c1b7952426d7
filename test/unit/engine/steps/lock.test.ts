import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { isLocked, lockAgent } from '../../../../lib/engine/steps/lock.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';

const LOCK = join(import.meta.dirname, '../../../../lib/engine/steps/lock.ts');

/** A process that takes the lock, reports it and is otherwise idle. */
function locker(agent: string, root: string, before = '') {
  const script = `
    import { lockAgent } from ${JSON.stringify(LOCK)};
    ${before}
    globalThis.lock = await lockAgent(${JSON.stringify(agent)}, ${JSON.stringify(root)});
    console.log('locked');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { child, locked: once(child.stdout, 'data') };
}

t.test('one process holds the lock until it releases it', async (t) => {
  const root = t.testdir();
  t.equal(await isLocked('one', root), false);
  {
    using _lock = await lockAgent('one', root);
    t.equal(await isLocked('one', root), true);
    t.equal(await isLocked('one', root), true, 'asking does not take it');
    t.match(await thrownBy(lockAgent('one', root)), {
      kind: 'usage',
      code: 'already-running',
      message: /^one is already running on this host/,
      details: { fix: /one status/ },
    });
    using _other = await lockAgent('two', root);
    using _elsewhere = await lockAgent('one', `${root}/other`);
  }
  using _again = await lockAgent('one', root);
  t.equal(await isLocked('one', root), true);
});

t.test('the lock of a host has the name of its agent', async (t) => {
  const agent = `unit-test-${process.pid}`;
  using _lock = await lockAgent(agent, '/');
  t.equal(await isLocked(agent, '/'), true);
  const socket = connect({ path: `\0sno-agents/${agent}` });
  await once(socket, 'connect');
  await once(socket.resume(), 'close');
});

t.test('a lock that fails for another reason is not reported as taken', async (t) => {
  const tooLong = await thrownBy(lockAgent('x'.repeat(200), '/'));
  t.notOk(tooLong instanceof Failure);
  t.match(tooLong, { syscall: 'listen' });
});

t.test('a lock does not keep its process alive', async (t) => {
  const { child } = locker('idle', t.testdir());
  const [code] = await once(child, 'exit');
  t.equal(code, 0);
});

t.test('the kernel frees the lock of a killed process', async (t) => {
  const root = t.testdir();
  const { child, locked } = locker('killed', root, 'setInterval(() => {}, 60_000);');
  await locked;
  t.equal(await isLocked('killed', root), true);
  child.kill('SIGKILL');
  await once(child, 'exit');
  t.equal(await isLocked('killed', root), false);
  using _lock = await lockAgent('killed', root);
});
