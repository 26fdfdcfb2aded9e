"""Defines the graphs of Grafana's dashboard, and what each asks Prometheus. Pure."""

from __future__ import annotations

from dataclasses import dataclass

# What containers of YARN are called there: `vas_ansible.hadoop`. A panel shows the ten busiest.
_BY_JOB = 'topk(10, sum by (jobid) (rate({}{{jobid=~"app_.*"}}[5m])))'
_BY_JOB_AND_TARGET = _BY_JOB.replace("(jobid)", "(jobid, target)")
# Grants of containers, by where they are; the local ones are the product.
GRANT_RATES = " + ".join(
    f"rate(vas_placement_{where}_grants[15m])" for where in ("local", "partner", "remote")
)
_TO_GUESTS = (
    'rate(vas_route_received_bytes_total{{leg="{}"}}[5m])'
    " and on (instance) node_manager_metrics_containers_running"
)
# The labels of org.vas.scheduler.policy.RemoteCause; the first three are the usual ones.
CAUSES = (
    *("timeout", "skew", "dead_node", "decommissioning", "no_such_node", "partition_mismatch"),
    *("blacklisted", "rack_mismatch", "unplaced"),
)


@dataclass(frozen=True)
class Panel:
    """A graph of the dashboard: title, unit by Grafana's name, and legend -> PromQL expression."""

    title: str
    unit: str
    lines: dict[str, str]


PANELS = (
    Panel(
        "Guests in YARN",
        "short",
        {
            "active": "cluster_metrics_num_active_n_ms",
            "leaving": "cluster_metrics_num_decommissioning_n_ms",
            "lost": "cluster_metrics_num_lost_n_ms",
        },
    ),
    Panel(
        "Containers per guest",
        "short",
        {"{{instance}}": "node_manager_metrics_containers_running"},
    ),
    Panel(
        "Own host by virtio",
        "bool_yes_no",
        {"{{instance}} to {{peer}}": 'vas_route_path_in_use{leg="virtio"}'},
    ),
    Panel("Round trip", "s", {"{{instance}} {{leg}} {{peer}}": "vas_route_probe_rtt_seconds"}),
    Panel(
        "Probe sockets that are missing",
        "short",
        {"{{instance}}": "vas_route_probe_sockets_expected - vas_route_probe_sockets"},
    ),
    Panel(
        "Switches of a path",
        "short",
        {"{{instance}} to {{to}}: {{cause}}": "increase(vas_route_switches_total[5m])"},
    ),
    Panel(
        "Outage at a switch, 95 %",
        "s",
        {
            "{{instance}}": "histogram_quantile(0.95, sum by (le, instance) "
            "(rate(vas_route_outage_seconds_bucket[15m])))"
        },
    ),
    Panel("Placed values by state", "short", {"{{instance}} {{state}}": "vas_affinity_values"}),
    Panel(
        "Score of the threads' places: now, and the best known",
        "short",
        {"{{instance}} {{of}}": "vas_affinity_score"},
    ),
    Panel("Lost pins by kind", "short", {"{{instance}} {{kind}}": "vas_affinity_violations"}),
    Panel(
        "New threads placed, and lost, by the way and the reason",
        "short",
        {
            "{{instance}} {{way}}": "increase(vas_affinity_arrivals_total[5m])",
            "{{instance}} lost: {{why}}": "increase(vas_affinity_arrivals_lost_total[5m])",
        },
    ),
    Panel(
        "Guests started, by what placed them",
        "short",
        {"{{instance}} {{by}}": "increase(vas_affinity_guest_starts_total[5m])"},
    ),
    Panel(
        "Containers granted where their data are",
        "percentunit",
        {"local": f"rate(vas_placement_local_grants[15m]) / ({GRANT_RATES})"},
    ),
    Panel(
        "Bytes to guests: from their own host, and remote ones",
        "Bps",
        {
            "{{instance}} own host": _TO_GUESTS.format("virtio"),
            "{{instance}} remote": _TO_GUESTS.format("sriov"),
        },
    ),
    Panel(
        "Waits that ended elsewhere, by cause",
        "short",
        {
            cause.replace("_", "-"): f"increase(vas_placement_relaxed_{cause}[5m])"
            for cause in CAUSES
        },
    ),
    Panel("Wait of a granted container, average", "ms", {"wait": "vas_placement_wait_avg_millis"}),
    Panel(
        "Map output left by ended jobs, removed",
        "bytes",
        {"{{instance}}": "increase(vas_shuffle_bytes_removed[5m])"},
    ),
    Panel(
        "Since the janitor's last run",
        "s",
        {"{{instance}} {{staging}}": "time() - vas_janitor_last_end_seconds"},
    ),
    Panel(
        "Directories of jobs, by the janitor's verdict",
        "short",
        {"{{instance}} {{staging}} {{verdict}}": "vas_janitor_directories"},
    ),
    Panel(
        "Map output read by reduce tasks",
        "Bps",
        {"{{instance}}": "rate(vas_shuffle_bytes_read[5m])"},
    ),
    Panel(
        "Requests of reduce tasks for map output",
        "reqps",
        {
            "{{instance}} to OSTs": "rate(vas_shuffle_read_requests[5m])",
            "{{instance}} to MDTs": "rate(vas_shuffle_metadata_requests[5m])",
        },
    ),
    Panel(
        "Segments that reduce tasks have open",
        "short",
        {"{{instance}}": "vas_shuffle_open_segments"},
    ),
    Panel(
        "Map outputs found lost or damaged",
        "short",
        {"{{instance}}": "increase(vas_shuffle_validation_failures[5m])"},
    ),
    Panel(
        "Map output on the nodes' own disks, by vas-shuffled",
        "Bps",
        {
            "{{instance}} to other nodes": "rate(vas_shuffled_served_bytes[5m])",
            "{{instance}} to its own reducers": "rate(vas_shuffled_own_bytes[5m])",
        },
    ),
    Panel(
        "I/O on the servers by application",
        "Bps",
        {
            "{{jobid}} reads": _BY_JOB.format("lustre_job_read_bytes_total"),
            "{{jobid}} writes": _BY_JOB.format("lustre_job_write_bytes_total"),
        },
    ),
    Panel(
        "Requests to the servers by application",
        "reqps",
        {"{{jobid}}": _BY_JOB.format("lustre_job_stats_total")},
    ),
    Panel(
        "Applications that write most to one OST",
        "Bps",
        {"{{jobid}} to {{target}}": _BY_JOB_AND_TARGET.format("lustre_job_write_bytes_total")},
    ),
    Panel(
        "Applications whose I/O is left out, by reason",
        "short",
        {"{{target}} {{reason}}": 'vas_jobstats_left_out{reason!="other-name"} > 0'},
    ),
    Panel(
        "Since the servers' lists of jobs were read",
        "s",
        {"{{instance}}": "time() - vas_jobstats_last_read_seconds"},
    ),
    Panel("CPUs in use", "percentunit", {"{{instance}}": "vas_affinity_busy_ratio"}),
)
