package config

import "fmt"

// Server is one machine.
type Server struct {
	Host string
	Tags []string
}

// Config is the whole configuration.
type Config struct {
	Name    string
	Labels  map[string]string
	Servers []*Server
	Limits  *Limits
}

// Limits bounds what a user may do.
type Limits struct {
	Requests int
	Paths    map[string]int
}

// Clone returns a deep copy of c.
func (c *Config) Clone() *Config {
	out := *c
	out.Labels = make(map[string]string, len(c.Labels))
	for key, value := range c.Labels {
		out.Labels[key] = value
	}
	return &out
}

// Find gives the server with the host name.
func (c *Config) Find(host string) (*Server, error) {
	for _, s := range c.Servers {
		if s.Host == host {
			return s, nil
		}
	}
	return nil, fmt.Errorf("no server %q", host)
}
