import { isDeepStrictEqual } from 'node:util';
import { Failure } from '../../lib/base/errors/failure.ts';
import { failureFromData } from '../../lib/base/errors/failure-data.ts';
import { familyOf } from '../../lib/base/network/address.ts';
import { nodeIpsSchema } from '../../lib/base/network/node-ips.ts';
import {
  type Identity,
  identityOf,
  machineNetworkFor,
} from '../../lib/change/identity/identity.ts';
import { identityChange, requestIdentity } from '../../lib/change/identity/request.ts';
import { isApiReady } from '../../lib/clients/kube/api-ready.ts';
import { statusPath } from '../../lib/engine/steps/reporter.ts';
import { readStatus } from '../../lib/engine/steps/status.ts';
import { done } from '../../lib/engine/steps/step.ts';
import { exists, removeFile } from '../../lib/host/files.ts';
import { BRIDGE } from '../../lib/host/internal-bridge.ts';
import { addressByFamily, addressesIn, hostAddresses } from '../../lib/host/network.ts';
import { sealedPath } from '../../lib/host/paths.ts';
import { startAndWait } from '../../lib/host/start-and-wait.ts';
import { readFactoryPolicy, writeFactoryPolicy } from '../../lib/relocation/relocatable/policy.ts';
import { awaitApi } from '../steps/await-api.ts';
import { restartKubeletUnit } from '../steps/kubelet.ts';
import { presentInput, type ReconfigureContext, wantedIdentity } from './context.ts';
import type { SiteStep } from './or-back.ts';

const IDENTITY_UNIT = 'sno-identity.service';

/**
 * Opens the seal and starts the control plane: with the name, the address and the domain of the site by a change of
 * the identity, which its own unit resumes. If none of these differs, it starts unchanged.
 */
export const startAtSite: SiteStep = {
  name: 'start',
  leaves: 'a running control plane with the name, the address and the domain of the site',
  touches: ['disk', 'systemd', 'runtime', 'api'],
  neededUntil: 'confirm',
  async holds(context, progress) {
    const { paths } = context;
    if (await exists(sealedPath(paths))) return false;
    if ((await identityChange.read(paths)) !== undefined) return false;
    const present = identityOf(await presentInput(context));
    if (!isDeepStrictEqual(present, await siteIdentity(context, progress.signal))) return false;
    return context.withAdministrator(progress, (client) => isApiReady(client, progress.signal));
  },
  async run(context, progress) {
    const { paths } = context;
    await removeFile(sealedPath(paths));
    const to = await siteIdentity(context, progress.signal);
    const from = identityOf(await presentInput(context));
    const underWay = await identityChange.read(paths);
    if (underWay !== undefined || !isDeepStrictEqual(from, to)) {
      // The step "settle" asks for more than its steady state does.
      if (underWay === undefined) await requestIdentity(paths, { from, to, settlesLater: true });
      await progress.wait('the change of the identity', () => startAndWait(IDENTITY_UNIT));
      await requireEnded(context);
    } else {
      await restartKubeletUnit(progress.signal);
    }
    await keepName(context, to);
    await awaitApi(context, progress);
    return done(`${to.hostname}, ${to.nodeIps.join(', ')}, ${to.clusterName}.${to.baseDomain}`);
  },
};

async function siteIdentity(context: ReconfigureContext, signal: AbortSignal): Promise<Identity> {
  const { request, site } = context;
  if (site.nodeAddress === 'internal') return wantedIdentity(context);
  const others = (await hostAddresses(signal)).filter((each) => each.interfaceName !== BRIDGE);
  // Two interfaces may have the same address.
  const all = [...new Map(others.map((each) => [each.address, each])).values()];
  const found = addressByFamily(all, site.machineNetworks);
  // The families of the cluster stay, and which of them is the primary one.
  const own = request.from.nodeIps.map((each) =>
    found.find(({ family }) => family === familyOf(each)),
  );
  const isClear = own.every((each) => each?.rivals.length === 0);
  const nodeIps = nodeIpsSchema.safeParse(own.map((each) => each?.address?.address));
  if (!nodeIps.success || !isClear) {
    throw new Failure(
      'fatal',
      'the host does not have exactly one address of the site in each family',
      {
        code: 'address-missing',
        expected: `an address in ${site.machineNetworks.join(', ')}`,
        found:
          addressesIn(all, site.machineNetworks)
            .map(({ address }) => address)
            .join(', ') || 'none',
        fix: 'Correct machine_networks or raw_nm_state_config in the site configuration.',
      },
    );
  }
  const networks = machineNetworkFor(request.from.machineNetwork, nodeIps.data, all);
  return wantedIdentity(context, { nodeIps: nodeIps.data, machineNetwork: networks });
}

async function requireEnded({ paths }: ReconfigureContext): Promise<void> {
  if ((await identityChange.read(paths)) === undefined) return;
  const failure = (await readStatus(statusPath(paths, 'sno-identity')))?.failure;
  const cause = failure === undefined ? undefined : failureFromData(failure);
  throw new Failure('fatal', 'the host could not be given its name, address and domain', {
    code: cause?.code,
    cause,
    fix: 'See "sno-identity status".',
  });
}

/** The factory fixed the name of the Node: it is another one now. */
async function keepName({ paths }: ReconfigureContext, { hostname }: Identity): Promise<void> {
  const policy = await readFactoryPolicy(paths);
  if (policy === undefined || policy.nodeName === hostname) return;
  await writeFactoryPolicy(paths, { ...policy, nodeName: hostname });
}
