/** What the laptop says of texts in manifests, compared with the API. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { startControlPlane } from '../../lab/servers/control-plane.ts';
import { applyManifests } from '../../lib/clients/kube/apply.ts';
import { loadManifests } from '../../lib/clients/kube/manifests.ts';
import {
  NO_OBJECTS,
  NO_PARTS,
  OBJECTS,
  OTHER_THAN_TEXT,
  PARTS,
  TEXTS,
} from '../unit/cli/text-values.ts';

const { signal } = new AbortController();
const folder = t.testdir();
const controlPlane = await startControlPlane(join(folder, 'control-plane'), signal);
t.teardown(() => controlPlane.stop());
const client = await controlPlane.client();
t.teardown(() => client[Symbol.dispose]());

async function outcomesOf(name: string, texts: readonly string[]) {
  const dir = join(folder, name);
  await mkdir(dir, { recursive: true });
  for (const [at, text] of texts.entries()) {
    await writeFile(join(dir, `${at}.yaml`), text.replace('name: a,', `name: ${name}-${at},`));
  }
  const rows = await applyManifests(client, await loadManifests([dir]), {
    ...{ signal, deadlineMs: 30_000, concurrency: 8, report: () => {} },
  });
  return rows.map(({ outcome, name, reason }) => `${name} ${outcome} ${reason ?? ''}`);
}

t.test('the API refuses what is refused, and takes what is right', async (t) => {
  const allWrong = [...OTHER_THAN_TEXT, ...NO_OBJECTS, ...NO_PARTS];
  const wrong = await outcomesOf(
    'wrong',
    allWrong.map(([text]) => text),
  );
  t.equal(wrong.length, allWrong.length);
  for (const line of wrong) t.match(line, / rejected /, line);
  const allRight = [...TEXTS, ...OBJECTS, ...PARTS];
  const right = await outcomesOf('right', allRight);
  t.equal(right.length, allRight.length);
  for (const line of right) t.match(line, / created /, line);
});
