package main

import (
	"maps"
	"path/filepath"
	"slices"
)

const securityFilePrefix = "0000_20_kube-apiserver-operator_00_"

type fields = map[string]any

// strategy is how a constraint determines a user, a group or a label.
func strategy(kind string) fields { return fields{"type": kind} }

func ranged(minimum, maximum int) fields {
	return fields{"type": "MustRunAs", "ranges": []fields{{"min": minimum, "max": maximum}}}
}

func userRange(minimum, maximum int) fields {
	return fields{"type": "MustRunAsRange", "uidRangeMin": minimum, "uidRangeMax": maximum}
}

var (
	podVolumes = []string{
		"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image",
		"persistentVolumeClaim", "projected", "secret",
	}
	hostVolumes   = sorted(podVolumes, "hostPath")
	sharedVolumes = sorted(podVolumes, "hostPath", "nfs")
)

func sorted(list []string, more ...string) []string {
	all := append(slices.Clone(list), more...)
	slices.Sort(all)
	return all
}

// restricted is the constraint that all others are told from.
var restricted = fields{
	"allowHostDirVolumePlugin": false,
	"allowHostIPC":             false,
	"allowHostNetwork":         false,
	"allowHostPID":             false,
	"allowHostPorts":           false,
	"allowPrivilegeEscalation": true,
	"allowPrivilegedContainer": false,
	"allowedCapabilities":      nil,
	"defaultAddCapabilities":   nil,
	"fsGroup":                  strategy("MustRunAs"),
	"groups":                   []string{},
	"priority":                 nil,
	"readOnlyRootFilesystem":   false,
	"requiredDropCapabilities": []string{"KILL", "MKNOD", "SETUID", "SETGID"},
	"runAsUser":                strategy("MustRunAsRange"),
	"seLinuxContext":           strategy("MustRunAs"),
	"supplementalGroups":       strategy("RunAsAny"),
	"users":                    []string{},
	"volumes":                  podVolumes,
}

// secondVersion is what the constraints with "-v2" and "-v3" have in common.
var secondVersion = fields{
	"allowPrivilegeEscalation": false,
	"allowedCapabilities":      []string{"NET_BIND_SERVICE"},
	"requiredDropCapabilities": []string{"ALL"},
	"seccompProfiles":          []string{"runtime/default"},
}

var (
	anyUser     = fields{"fsGroup": strategy("RunAsAny"), "runAsUser": strategy("RunAsAny")}
	nonRoot     = fields{"fsGroup": strategy("RunAsAny"), "runAsUser": strategy("MustRunAsNonRoot")}
	hostNetwork = fields{
		"allowHostNetwork":   true,
		"allowHostPorts":     true,
		"supplementalGroups": strategy("MustRunAs"),
	}
	hostMount = fields{
		"allowHostDirVolumePlugin": true,
		"requiredDropCapabilities": []string{"MKNOD"},
		"volumes":                  sharedVolumes,
	}
)

// constraints are what each one differs in from `restricted`, in parts that add up.
var constraints = map[string][]fields{
	"restricted":    {},
	"restricted-v2": {secondVersion},
	"restricted-v3": {secondVersion, {
		"fsGroup":            ranged(1000, 65534),
		"runAsUser":          userRange(1000, 65534),
		"supplementalGroups": ranged(1000, 65534),
		"userNamespaceLevel": "RequirePodLevel",
	}},
	"nonroot":        {nonRoot},
	"nonroot-v2":     {nonRoot, secondVersion},
	"hostnetwork":    {hostNetwork},
	"hostnetwork-v2": {hostNetwork, secondVersion},
	"anyuid": {anyUser, {
		"groups":                   []string{"system:cluster-admins"},
		"priority":                 10,
		"requiredDropCapabilities": []string{"MKNOD"},
	}},
	"hostmount-anyuid": {anyUser, hostMount, {
		"users": []string{"system:serviceaccount:openshift-infra:pv-recycler-controller"},
	}},
	"hostmount-anyuid-v2": {anyUser, hostMount, {"seLinuxContext": strategy("RunAsAny")}},
	"hostaccess": {{
		"allowHostDirVolumePlugin": true,
		"allowHostIPC":             true,
		"allowHostNetwork":         true,
		"allowHostPID":             true,
		"allowHostPorts":           true,
		"volumes":                  hostVolumes,
	}},
	"nested-container": {{
		"allowedCapabilities":      []string{"SETUID", "SETGID"},
		"fsGroup":                  ranged(0, 65534),
		"requiredDropCapabilities": nil,
		"runAsUser":                userRange(0, 65534),
		"seLinuxContext": fields{
			"type":           "MustRunAs",
			"seLinuxOptions": fields{"type": "container_engine_t"},
		},
		"seccompProfiles":    []string{"*"},
		"supplementalGroups": ranged(0, 65534),
		"userNamespaceLevel": "RequirePodLevel",
	}},
	"privileged": {anyUser, {
		"allowHostDirVolumePlugin": true,
		"allowHostIPC":             true,
		"allowHostNetwork":         true,
		"allowHostPID":             true,
		"allowHostPorts":           true,
		"allowPrivilegedContainer": true,
		"allowedCapabilities":      []string{"*"},
		"allowedUnsafeSysctls":     []string{"*"},
		"groups":                   []string{"system:cluster-admins", "system:nodes", "system:masters"},
		"requiredDropCapabilities": nil,
		"seLinuxContext":           strategy("RunAsAny"),
		"seccompProfiles":          []string{"*"},
		"users":                    []string{"system:admin", "system:serviceaccount:openshift-infra:build-controller"},
		"volumes":                  []string{"*"},
	}},
}

// writeSecurityContextConstraints writes every constraint with the role to use it, and lets
// every user use the restricted ones.
func writeSecurityContextConstraints(folder string) error {
	manifests := fields{}
	for name, parts := range constraints {
		manifest := fields{
			"apiVersion": "security.openshift.io/v1",
			"kind":       "SecurityContextConstraints",
			"metadata":   releaseMetadata(name),
		}
		maps.Copy(manifest, restricted)
		for _, part := range parts {
			maps.Copy(manifest, part)
		}
		manifests["scc-"+name] = manifest
		manifests["cr-scc-"+name] = constraintRole(name)
	}
	// The role outlived its constraint.
	manifests["cr-scc-hostmount"] = constraintRole("hostmount")
	for _, name := range []string{"restricted-v2", "restricted-v3"} {
		manifests["crb-systemauthenticated-scc-"+name] = constraintBinding(name)
	}
	for name, manifest := range manifests {
		if err := writeObject(filepath.Join(folder, securityFilePrefix+name+".yaml"), manifest); err != nil {
			return err
		}
	}
	return nil
}

func constraintRole(name string) fields {
	metadata := releaseMetadata("system:openshift:scc:" + name)
	metadata["annotations"].(map[string]string)["rbac.authorization.kubernetes.io/autoupdate"] = "true"
	return fields{
		"apiVersion": "rbac.authorization.k8s.io/v1",
		"kind":       "ClusterRole",
		"metadata":   metadata,
		"rules": []fields{{
			"apiGroups":     []string{"security.openshift.io"},
			"resources":     []string{"securitycontextconstraints"},
			"resourceNames": []string{name},
			"verbs":         []string{"use"},
		}},
	}
}

func constraintBinding(name string) fields {
	const group = "rbac.authorization.k8s.io"
	role := "system:openshift:scc:" + name
	return fields{
		"apiVersion": group + "/v1",
		"kind":       "ClusterRoleBinding",
		"metadata":   releaseMetadata(role),
		"roleRef":    fields{"apiGroup": group, "kind": "ClusterRole", "name": role},
		"subjects":   []fields{{"apiGroup": group, "kind": "Group", "name": "system:authenticated"}},
	}
}

func releaseMetadata(name string) fields {
	return fields{
		"name": name,
		"annotations": map[string]string{
			"include.release.openshift.io/self-managed-high-availability": "true",
		},
	}
}
