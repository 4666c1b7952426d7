module sno-agents.lab/pull-sources

go 1.24.1

require github.com/containers/image/v5 v5.35.0

require (
	github.com/BurntSushi/toml v1.5.0 // indirect
	github.com/containers/storage v1.58.0 // indirect
	github.com/docker/go-units v0.5.0 // indirect
	github.com/moby/sys/capability v0.4.0 // indirect
	github.com/moby/sys/mountinfo v0.7.2 // indirect
	github.com/moby/sys/user v0.4.0 // indirect
	github.com/opencontainers/go-digest v1.0.0 // indirect
	github.com/opencontainers/image-spec v1.1.1 // indirect
	github.com/opencontainers/runtime-spec v1.2.1 // indirect
	github.com/sirupsen/logrus v1.9.3 // indirect
	golang.org/x/sys v0.32.0 // indirect
)
