/** What a real kube-apiserver says of deprecated APIs that somebody uses. */
import { join } from 'node:path';
import t from 'tap';
import { z } from 'zod';
import { removedApiFaults } from '../../agents/upkeep/update/obstacles.ts';
import { startControlPlane } from '../../lab/servers/control-plane.ts';
import type { KubeClient } from '../../lib/clients/kube/client.ts';
import { requestedDeprecatedApis } from '../../lib/clients/kube/deprecated-apis.ts';

const { signal } = new AbortController();
const limits = { signal, deadlineMs: 10_000 };

const groupsSchema = z.object({
  groups: z.array(z.object({ versions: z.array(z.object({ groupVersion: z.string() })) })),
});
const resourcesSchema = z.object({ resources: z.array(z.object({ name: z.string() })) });

/** Asks for what every beta API of the server has: each minor version ends some of them. */
async function useBetaApis(client: KubeClient): Promise<void> {
  const read = (path: string) => client.json({ method: 'GET', path }, limits);
  const { groups } = groupsSchema.parse(await read('/apis'));
  const versions = groups.flatMap((group) => group.versions.map((it) => it.groupVersion));
  for (const version of versions.filter((it) => it.includes('beta'))) {
    const { resources } = resourcesSchema.parse(await read(`/apis/${version}`));
    for (const { name } of resources) await client.raw(`/apis/${version}/${name}`, limits);
  }
}

t.test('a request to an API that ends is known, and until when it is served', async (t) => {
  const args = ['--runtime-config=api/beta=true'];
  const server = await startControlPlane(join(t.testdir(), 'control-plane'), signal, { args });
  t.teardown(() => server.stop());
  using client = await server.client();
  const ending = async () =>
    (await requestedDeprecatedApis(client, limits)).filter(({ removedIn }) => removedIn !== '');
  t.same(await ending(), [], 'nobody has asked yet');
  await useBetaApis(client);
  const [first] = await ending();
  t.match(first, { resource: /^[a-z]+\.v\dbeta\d\.[a-z.0-9]+$/, removedIn: /^1\.\d+$/ });
  t.match(removedApiFaults(`v${first?.removedIn}.0`, await ending()), [
    { found: new RegExp(`${first?.resource} \\(until ${first?.removedIn}\\)`) },
  ]);
});
