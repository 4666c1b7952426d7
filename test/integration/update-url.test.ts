/** Updates below a URL, by the real curl: what is asked for, through which proxy, and what is believed of the answers. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { updateSource } from '../../agents/upkeep/update/source.ts';
import { stageUpdate } from '../../agents/upkeep/update/stage.ts';
import { sha256 } from '../../lib/host/files.ts';
import { writePayload } from '../unit/agents/host/payload.ts';
import { SOURCE, STATE, updating } from '../unit/agents/upkeep/updating-host.ts';

const limits = { signal: AbortSignal.timeout(120_000), deadlineMs: 60_000 };
const FOLDER = '/releases/1.2.3';

/** A proxy that has the files of a folder itself, also from their middle. */
async function served(t: Test, folder: string) {
  const asked: string[] = [];
  const server = createServer(({ url = '', headers }, response) => {
    asked.push(url);
    const path = join(folder, new URL(url, 'http://proxy').pathname.slice(FOLDER.length));
    if (!existsSync(path)) return void response.writeHead(404).end();
    const [, from = '0'] = /^bytes=(\d+)-$/.exec(headers.range ?? '') ?? [];
    const all = readFileSync(path);
    const range = `bytes ${from}-${all.length - 1}/${all.length}`;
    response.writeHead(from === '0' ? 200 : 206, from === '0' ? {} : { 'content-range': range });
    response.end(all.subarray(Number(from)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => new Promise((resolve) => void server.close(resolve)));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { asked, url: `http://127.0.0.1:${port}` };
}

async function offered(t: Test) {
  const it = await updating(t, { programs: 'real' });
  const folder = it.host.at(SOURCE);
  const { asked, url } = await served(t, folder);
  const proxy = { httpProxy: url, noProxy: [] };
  const source = updateSource(`http://updates.example.test${FOLDER}//`, { proxy });
  return { ...it, folder, asked, url: `${url}${FOLDER}`, source, target: t.testdir() };
}

t.test('each file is asked for below the URL, through the proxy of the host', async (t) => {
  const { source, folder, asked, target } = await offered(t);
  writeFileSync(join(folder, 'update.json'), 'a manifest');
  writeFileSync(join(folder, 'update.json.sig'), 'a signature');
  const work = join(target, 'work');
  t.same(await source.signed(work, limits), { text: 'a manifest', signature: 'a signature' });
  t.notOk(existsSync(work), 'nothing is left of it');
  const { length: size } = readFileSync(join(folder, 'sno-agents'));
  await source.executable(join(target, 'sno-agents'), size, limits);
  const digest = sha256(readFileSync(join(folder, 'payload/payload.yaml')));
  const versions = { kubernetes: 'v1.34.5', etcd: 'v3.6.8' };
  await source.payload(join(target, 'payload'), { versions, size, sha256: digest }, limits);
  for (const name of ['sno-agents', 'payload/payload.yaml', 'payload/bin/kubelet']) {
    t.same(readFileSync(join(target, name)), readFileSync(join(folder, name)), name);
  }
  const names = ['update.json', 'update.json.sig', 'sno-agents'].concat(
    ...['payload.yaml', 'bin/kubelet', 'images/etcd.tar'].map((name) => `payload/${name}`),
  );
  const expected = names.map((name) => `http://updates.example.test${FOLDER}/${name}`);
  t.same(asked.toSorted(), expected.toSorted());
  await t.rejects(
    source.payload(join(target, 'other'), { versions, size, sha256: 'd'.repeat(64) }, limits),
    { kind: 'fatal', message: /payload\.yaml/ },
  );
  t.notOk(existsSync(join(target, 'other/payload.yaml')), 'a payload that was not signed');
});

t.test('no more is written than the manifest says, and little before that is known', async (t) => {
  const { source, folder, target } = await offered(t);
  const { length } = readFileSync(join(folder, 'sno-agents'));
  const path = join(target, 'sno-agents');
  await t.rejects(source.executable(path, length - 1, limits), { message: /too large/ });
  writeFileSync(join(folder, 'update.json.sig'), '');
  for (const [size, isRead] of [
    [65_536, true],
    [65_537, false],
  ] as const) {
    writeFileSync(join(folder, 'update.json'), 'x'.repeat(size));
    const signed = source.signed(join(target, 'work'), limits);
    if (isRead) await signed;
    else await t.rejects(signed, { message: /too large/ });
  }
});

t.test('what an earlier attempt has fetched of another executable is not continued', async (t) => {
  const { host, context, url, holds } = await offered(t);
  const on = { ...context, request: { ...context.request, from: url } };
  host.write(`${STATE}/next/sno-agents`, 'of another one', 0o600);
  await stageUpdate.run(on, host.progress());
  t.ok(await holds(stageUpdate));
  t.equal(host.mode(`${STATE}/next/sno-agents`), 0o755);
});

t.test('a payload of an earlier attempt that was damaged since is fetched again', async (t) => {
  const { host, context, url, holds } = await offered(t);
  const on = { ...context, request: { ...context.request, from: url } };
  const kubelet = `${STATE}/next/payload/bin/kubelet`;
  writePayload(host, `${STATE}/next/payload`, 'the new kubelet');
  host.write(kubelet, 'the NEW kubelet');
  await t.rejects(stageUpdate.run(on, host.progress()), { message: /damaged/ });
  t.notOk(await holds(stageUpdate), 'it does not count as complete');
  await stageUpdate.run(on, host.progress());
  t.equal(host.read(kubelet), 'the new kubelet');
});
