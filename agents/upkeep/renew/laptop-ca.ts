import { Failure } from '../../../lib/base/errors/failure.ts';
import type { Limits } from '../../../lib/base/wait/limits.ts';
import { isLaptopCaReplaced } from '../../../lib/clients/kube/administrators.ts';
import { waitForApi } from '../../../lib/clients/kube/api-ready.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { exists, readTextIfPresent } from '../../../lib/host/files.ts';
import { certificatesIn, validityOf } from '../../../lib/pki/certificate.ts';
import { signedAt } from '../../../lib/pki/lifetimes.ts';
import { authorityPaths, laptopAdminCa } from '../../../lib/render/kubernetes/authorities.ts';
import { apiServerTrust } from '../../../lib/render/kubernetes/kube-apiserver.ts';
import { localApi } from '../../../lib/render/kubernetes/paths.ts';
import { withSignedAdministrator } from '../../../lib/render/signed-access.ts';
import { removeKeptFile, writeKeptFiles } from '../../../lib/secrets/seal/files.ts';
import type { RenewContext } from '../../steps/certificates/context.ts';
import { untilProven } from '../../steps/certificates/prove.ts';
import { publishTrust } from '../../steps/certificates/published-trust.ts';
import { REQUEST_DEADLINE_MS } from '../../steps/request-deadline.ts';
import { attempted, readAttempts } from './attempts.ts';
import { namedAuthorities } from './named-authorities.ts';

/** As in the inventory. */
const NAME = 'laptop-admin-ca';

/**
 * Ends the trust in the authority that signed the first kubeconfig on the laptop, once the cluster
 * has the record that this kubeconfig was exchanged. Its key is not on this host, so none of its clients
 * can be tried here: the proof is that the API server no longer names it when it asks a
 * client for a certificate. The file is deleted last, so that an interrupted run is continued.
 */
export const laptopCa: StepBody<RenewContext> = {
  name: 'laptop-ca',
  leaves: "no trust in the laptop's CA, if auth/kubeconfig was exchanged",
  touches: ['disk', 'api'],
  input: ({ run }) => run,
  async holds({ paths, run: id }) {
    const last = (await readAttempts(paths)).find(({ name }) => name === NAME);
    if (last?.run === id) return true;
    return last?.failure === undefined && !(await exists(paths.at(laptopAdminCa)));
  },
  run(context, progress) {
    const body = () =>
      endTrust(context, progress).catch((cause: unknown) => {
        throw stillTrusted(cause);
      });
    return attempted(context, NAME, body, progress);
  },
};

const stillTrusted = (cause: unknown): Failure =>
  new Failure('fatal', "the trust in the laptop's CA could not be ended", {
    code: 'laptop-ca-trusted',
    subject: laptopAdminCa,
    cause,
  });

/** Returns what was found, for the journal. */
async function endTrust(context: RenewContext, progress: Progress): Promise<string> {
  const { paths } = context;
  const laptop = await readTextIfPresent(paths.at(laptopAdminCa));
  if (laptop === undefined) return 'nothing trusts it';
  if (!(await isReplaced(context, laptop, progress)))
    return 'trusted: auth/kubeconfig was not exchanged';
  const all = certificatesIn((await readTextIfPresent(paths.at(apiServerTrust.clients))) ?? '');
  const others = all.filter((pem) => pem !== laptop);
  if (others.length < all.length) {
    const bundle = { path: apiServerTrust.clients, contents: others.join(''), mode: 0o644 };
    await writeKeptFiles(paths, [bundle]);
  }
  await progress.wait('the API server to refuse its clients', () =>
    untilProven(
      context,
      (limits) => requireNotNamed(context, laptop, limits),
      (cause) => new Failure('deadline', 'the API server still accepts its clients', { cause }),
      progress,
    ),
  );
  await publishTrust(context, progress);
  await removeKeptFile(paths, laptopAdminCa);
  progress.say("The API server refuses the laptop's administrators: auth/kubeconfig was exchanged");
  return 'refused from now on';
}

async function isReplaced(
  context: RenewContext,
  laptop: string,
  progress: Progress,
): Promise<boolean> {
  const { cluster, paths, settings } = context;
  return withSignedAdministrator(cluster.controlPlane, paths, progress, async (client) => {
    await progress.wait('the API server to be ready', (wait) =>
      waitForApi(client, {
        ...wait,
        deadlineMs: settings.renewApiMs,
      }),
    );
    const limits = { signal: progress.signal, deadlineMs: REQUEST_DEADLINE_MS };
    return isLaptopCaReplaced(client, signedAt(validityOf(laptop).notBefore), limits);
  });
}

/** The host's own authority must be named: otherwise nothing was read. */
async function requireNotNamed(
  { paths }: RenewContext,
  laptop: string,
  limits: Limits,
): Promise<void> {
  const textOf = async (path: string) => (await readTextIfPresent(paths.at(path))) ?? '';
  const own = await textOf(authorityPaths('admin').certificate);
  const server = {
    url: paths.endpoints.api ?? localApi,
    ca: await textOf(authorityPaths('serving').certificate),
  };
  const named = await namedAuthorities(server, [own, laptop], limits);
  if (named.length === 1 && named[0] === own) return;
  throw new Failure('retry', 'the API server names other CAs', {
    expected: "the host's CA, and not that of the laptop",
    found: named.length === 0 ? 'neither' : 'that of the laptop',
  });
}
