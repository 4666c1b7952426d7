import t from 'tap';
import { payload } from '../../../../agents/steps/payload.ts';
import { payloadFolder } from '../../../../agents/steps/payload-folder.ts';
import { openSite } from '../../payload/site.ts';
import { liveHost } from '../live-host.ts';

t.test('the payload is on the medium, or where it is fetched to', async (t) => {
  const { context, paths } = liveHost(t.testdir());
  t.equal(payloadFolder(context), `${paths.medium}/payload`);
  const cluster = { ...context.cluster, payloadUrl: 'https://h/payload' };
  t.equal(payloadFolder({ ...context, cluster }), paths.payload);
});

t.test('what is still to be fetched is no error, but what is not pinned is', async (t) => {
  const host = liveHost(t.testdir());
  const { url, close } = await openSite({});
  t.teardown(close);
  const { payloadSha256: _, ...unpinned } = host.context.cluster;
  const served = { ...host.context, cluster: { ...unpinned, payloadUrl: url } };
  t.equal(await payload.holds(served, host.progress()), false);
  await t.rejects(payload.run(served, host.progress()), {
    kind: 'usage',
    message: /a payload URL without the digest/,
  });
  const pinned = { ...served, cluster: { ...served.cluster, payloadSha256: 'a'.repeat(64) } };
  await t.rejects(payload.run(pinned, host.progress()), {
    kind: 'fatal',
    message: /payload\.yaml cannot be fetched.*404/,
  });
});
