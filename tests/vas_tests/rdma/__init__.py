"""One machine with a software RDMA device (rdma_rxe), on which several daemons are nodes."""
