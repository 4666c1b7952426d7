import { Installation, scenarioOf } from '../installation.ts';
import { Factory } from '../relocate/factory.ts';
import { rollBack } from '../relocate/rolled-back.ts';
import { expectTraces } from '../relocate/traces.ts';
import { relocatableHost } from '../relocation.ts';
import type { Scenario, ScenarioStep } from '../scenario.ts';
import { DOMAIN } from '../site.ts';
import { SiteArrival } from '../site-arrival.ts';

const factoryToSite = (node: SiteArrival): readonly ScenarioStep[] => [
  { title: 'Validate and seal it', run: () => node.validate() },
  { title: 'Switch it off, connect it to another network', run: () => node.ship() },
  { title: 'Boot at the site: sealed', run: () => node.checkSealed() },
  { title: 'Insert a site volume', run: () => node.insert() },
  { title: 'Wait for PASS', run: (report) => node.pass(report) },
  { title: 'Check what the stick says', run: () => node.checkStick() },
  { title: 'Check the node at its site', run: (report) => node.checkSite(report) },
];

/** Installed and validated in one network, switched off, and at work in another one. */
export const relocate: Scenario = (context) => {
  const run = relocatableHost(context);
  const node = new SiteArrival(run);
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Set up the cluster', run: (report) => run.finish(report) },
    { title: 'Check the cluster', run: (report) => run.checkCluster(report) },
    { title: 'Take back that it is relocatable, prepare it again', run: () => node.prepare() },
    { title: 'Fix whose site volumes it takes', run: () => node.fixSigner() },
    ...factoryToSite(node),
    { title: 'Conformance', run: (report) => node.passSubset(report) },
  ]);
};

/** The core of it, with short waits, the site's own certificate of the API, and its own SSH key. */
export const relocateBriefly: Scenario = (context) => {
  const run = relocatableHost(context);
  const node = new Factory(run, { hostname: 'till-7', hasCertificate: true, hasLogin: true });
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Set up the cluster', run: (report) => run.finish(report) },
    { title: 'Prepare it', run: (report) => node.prepareForShipping(report) },
    { title: 'Have sshd run, as on CoreOS', run: () => node.startSshd() },
    ...factoryToSite(node),
  ]);
};

/** Both families: the cluster knows its node by the addresses of the site. */
export const relocateDualStack: Scenario = (context) => {
  const families = ['IPv4', 'IPv6'] as const;
  const run = relocatableHost(context, families);
  const node = new Factory(run, { hostname: 'till-7.site.test', isNode: true, families });
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Set up the cluster', run: (report) => run.finish(report) },
    { title: 'Take back that it is relocatable, prepare it again', run: () => node.prepare() },
    { title: 'Prepare it', run: (report) => node.prepareForShipping(report) },
    ...factoryToSite(node),
    { title: 'Conformance', run: (report) => node.passSubset(report) },
  ]);
};

/** IPv6 alone, from a live host: the node keeps its address on the internal bridge, and goes back to its factory. */
export const relocateIpv6: Scenario = (context) => {
  const families = ['IPv6'] as const;
  const run = new Installation(context, {
    site: { families },
    hostInputs: { relocatable: true },
  });
  const node = new Factory(run, { hostname: 'till-7', families });
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Restore, join and clean up', run: (report) => run.finish(report) },
    { title: 'Prepare it', run: (report) => node.prepareForShipping(report) },
    { title: 'Restart NetworkManager', run: () => node.restartNetworkManager() },
    ...factoryToSite(node),
    { title: 'Conformance', run: (report) => node.passSubset(report) },
    { title: 'Take it back', run: () => rollBack(run, run.site.host.addresses) },
  ]);
};

/** Installed from a live host; the cluster too knows its node by the name and the address of the site. */
export const relocateInPlace: Scenario = (context) => {
  const run = new Installation(context, { hostInputs: { relocatable: true } });
  const node = new Factory(run, { hostname: 'till-7.site.test', isNode: true });
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Restore, join and clean up', run: (report) => run.finish(report) },
    { title: 'Prepare it', run: (report) => node.prepareForShipping(report) },
    ...factoryToSite(node),
    { title: 'Conformance', run: (report) => node.passSubset(report) },
    {
      title: 'Search its disk from outside',
      run: async () => {
        const { addresses } = run.site.host;
        await run.booted.stop();
        run.host = undefined;
        await expectTraces(run.site.disk, [...addresses, DOMAIN], context.signal);
      },
    },
  ]);
};
