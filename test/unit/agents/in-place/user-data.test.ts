import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { askUserData, type MetadataQuestion } from '../../../../agents/in-place/user-data.ts';
import { packed } from '../../../../cli/create/in-place-ignition-config.ts';
import { userDataFile } from '../../../../lib/cluster/installation/in-place/user-data.ts';
import { configOf, file } from '../../../../lib/render/ignition/entries.ts';
import { bootingHost, bundleOf, FOLDER, liveConfig } from './in-place-host.ts';

const bundle = await bundleOf(liveConfig);

const AZURE = '/metadata/instance/compute/userData?api-version=2021-01-01&format=text';

/** As AWS, which refuses without a token, or as Azure, which encodes. */
async function metadata(t: Test, userData: string): Promise<string> {
  const server = createServer((request, response) => {
    const { 'x-aws-ec2-metadata-token': token, metadata } = request.headers;
    if (request.url === AZURE) {
      return metadata === 'true'
        ? response.end(Buffer.from(userData).toString('base64'))
        : response.writeHead(400).end();
    }
    if (request.method === 'PUT') return response.end('a-token');
    if (token !== 'a-token') return response.writeHead(401).end();
    return response.end(userData);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
}

const asAws = (url: string): MetadataQuestion => ({
  ...{ url: `${url}/latest/user-data`, token: `${url}/latest/api/token` },
});

const asAzure = (url: string): MetadataQuestion => ({
  ...{ url: `${url}${AZURE}`, headers: { Metadata: 'true' }, encoding: 'base64' },
});

async function asked(t: Test, userData: string, question = asAws) {
  const { it, host } = bootingHost(t, bundle);
  const url = await metadata(t, userData);
  const step = askUserData([{ url: 'http://127.0.0.1:1/latest/user-data' }, question(url)]);
  t.equal(await step.holds(host, it.progress()), false);
  await step.run(host, it.progress());
  t.equal(await step.holds(host, it.progress()), true);
  return { it, found: await userDataFile(it.paths).read() };
}

const userDataOf = (config: string) =>
  JSON.stringify(
    packed(JSON.stringify(configOf({ files: [file(`${FOLDER}/in-place.json`, 0o600, config)] }))),
  );

t.test(
  'a metadata service that has the user data of this host is noted, with what to do',
  async (t) => {
    const { it } = bootingHost(t, bundle);
    const own = it.read(`${FOLDER}/in-place.json`);
    for (const question of [asAws, asAzure]) {
      const { found, it: asking } = await asked(t, userDataOf(own), question);
      t.same(found, { isServed: true });
      t.match(asking.lines.join(''), /still serves the user data.*Delete in-place\.bundle/);
    }
  },
);

t.test('another text, or user data of another host, is none of its own', async (t) => {
  const { it } = bootingHost(t, bundle);
  const other = { ...JSON.parse(it.read(`${FOLDER}/in-place.json`)), clusterId: 'another' };
  for (const text of [
    '',
    '#cloud-config\n',
    '{}',
    userDataOf(JSON.stringify(other)),
    'x'.repeat(300_000),
  ])
    for (const question of [asAws, asAzure])
      t.same((await asked(t, text, question)).found, { isServed: false });
});
