import { Resolver } from 'node:dns/promises';
import { z } from 'zod';
import { describeError } from '../../lib/base/errors/failure.ts';
import { parseJson } from '../../lib/base/json.ts';
import { run } from '../../lib/host/command.ts';
import { runOutsideSandbox } from '../../lib/host/outside-sandbox.ts';
import type { FailedCheck } from './site-checks.ts';

const ANSWER_MS = 10_000;

/** What can be asked in a network without knowing its site. */
export interface Neighbours {
  readonly gateways: readonly Gateway[];
  /** Addresses, of which one must answer. */
  readonly nameServers: readonly string[];
}

interface Gateway {
  readonly address: string;
  readonly interfaceName: string;
}

const routesSchema = z.array(
  z.looseObject({
    gateway: z.string().optional(),
    via: z.looseObject({ host: z.string() }).optional(),
    dev: z.string().optional(),
    metric: z.number().optional(),
  }),
);
const neighboursSchema = z.array(z.looseObject({ state: z.array(z.string()).optional() }));

/** The gateway of the default route that the kernel prefers, one of each family that has one. */
export async function defaultGateways(signal: AbortSignal): Promise<Gateway[]> {
  const limits = { signal, deadlineMs: ANSWER_MS };
  const gateways: Gateway[] = [];
  for (const family of ['-4', '-6']) {
    const text = await run('ip', [family, '-json', 'route', 'show', 'default'], limits);
    const [first] = routesSchema
      .parse(parseJson(text))
      .flatMap(({ gateway, via, dev, metric = 0 }) => {
        const address = gateway ?? via?.host;
        return address === undefined || dev === undefined
          ? []
          : [{ address, interfaceName: dev, metric }];
      })
      .toSorted((a, b) => a.metric - b.metric);
    if (first !== undefined) gateways.push(first);
  }
  return gateways;
}

/**
 * Why there is no evidence that a network is that of its site: its gateway or its name servers are silent, or it has neither.
 *
 * @param name what the name servers are asked for; that there is no such name is an answer
 */
export async function silentNeighbours(
  { gateways, nameServers }: Neighbours,
  name: string,
  signal: AbortSignal,
): Promise<FailedCheck[]> {
  if (gateways.length + nameServers.length === 0) {
    return [
      {
        found:
          'the network has no gateway and no name server, so nothing tells that it is the right one',
        fix: 'Name the gateway (routes in raw_nm_state_config) or the name servers (dns), or write into siteChecks what must answer at the site.',
      },
    ];
  }
  const silent = await Promise.all(gateways.map((gateway) => whySilent(gateway, signal)));
  const unasked = await whyNoName(nameServers, name, signal);
  return [...silent, unasked].filter((fault) => fault !== undefined);
}

async function whySilent(gateway: Gateway, signal: AbortSignal): Promise<FailedCheck | undefined> {
  if (!(await isSilent(gateway, signal))) return undefined;
  const { address, interfaceName } = gateway;
  return {
    found: `no answer from the gateway ${address} on ${interfaceName}`,
    fix: `Check the cable in ${interfaceName} and the port of the switch, and whether ${address} is the right gateway.`,
  };
}

/** A router may drop echo requests, but not those for its hardware address. */
async function isSilent(
  { address, interfaceName }: Gateway,
  signal: AbortSignal,
): Promise<boolean> {
  const limits = { signal, deadlineMs: ANSWER_MS };
  const ping = ['-c', '1', '-W', '4', '-I', interfaceName, address];
  try {
    // It needs a raw socket.
    await runOutsideSandbox('ping', ping, limits);
    return false;
  } catch {
    const show = ['-json', 'neighbour', 'show', 'to', address, 'dev', interfaceName];
    const known = neighboursSchema.safeParse(parseJson(await run('ip', show, limits))).data ?? [];
    return !known.some(({ state }) => state?.includes('REACHABLE'));
  }
}

/** Refusing a question, or knowing no such name, are answers. */
const ANSWERS = ['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'EREFUSED', 'ENOTIMP', 'EFORMERR'];
const answerSchema = z.object({ code: z.enum(ANSWERS) });

async function whyNoName(
  servers: readonly string[],
  name: string,
  signal: AbortSignal,
): Promise<FailedCheck | undefined> {
  if (servers.length === 0) return undefined;
  const asked = servers.map(async (server) => {
    const [address = '', interfaceName] = server.split('%');
    // One by a router's advertisement, such as fe80::1%eth0. Node's resolver loses its interface.
    if (interfaceName !== undefined) {
      if (await isSilent({ address, interfaceName }, signal)) throw new Error('no such neighbour');
      return;
    }
    const resolver = new Resolver({ timeout: 2_000, tries: 2 });
    resolver.setServers([server]);
    await resolver.resolve4(name).catch((error: unknown) => {
      if (!answerSchema.safeParse(error).success) throw error;
    });
  });
  const results = await Promise.allSettled(asked);
  if (results.some(({ status }) => status === 'fulfilled')) return undefined;
  const [why] = results.flatMap((result) =>
    result.status === 'rejected' ? [describeError(result.reason)] : [],
  );
  return {
    found: `no answer from the name server${servers.length === 1 ? '' : 's'} ${servers.join(', ')} (${why})`,
    fix: 'Check the name servers in the site configuration (dns), or those that the DHCP server gives.',
  };
}
